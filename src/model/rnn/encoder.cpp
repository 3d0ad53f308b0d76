#include "model/rnn/encoder.h"

#include <string>

namespace regard {
namespace {

// Returns the permutation [B, S] that reverses each sentence: n − 1 − s at position s [S] of a
// sentence of length n [B]. Padding keeps its position. The permutation is its own inverse.
torch::Tensor reversed_positions(const torch::Tensor& positions, const torch::Tensor& lengths) {
  const auto reversed = lengths.unsqueeze(1) - 1 - positions;
  return torch::where(reversed >= 0, reversed, positions);
}

// Permutes time steps: x [S, B, E], order [B, S] -> [S, B, E].
torch::Tensor reorder(const torch::Tensor& x, const torch::Tensor& order) {
  return x.gather(0, order.t().unsqueeze(-1).expand_as(x));
}

}  // namespace

RecurrentEncoder::RecurrentEncoder(const EncoderOptions& options, double state_dropout)
    : directions_(options.bidirectional ? 2 : 1),
      hidden_size_(options.hidden_size),
      dropout_(register_module("dropout", std::make_shared<Dropout>(state_dropout))) {
  auto input_size = options.embedding_dim;
  for (std::int64_t l = 0; l < options.layers; ++l) {
    layers_.push_back(register_module("layer" + std::to_string(l),
                                      std::make_shared<Cell>(options.cell, directions_, input_size,
                                                             hidden_size_, options.reset_gate)));
    input_size = state_size();
  }
  stack_ = register_module("stack",
                           std::make_shared<Stack>(options.layers, state_size(), options.residual,
                                                   options.layer_norm, state_dropout));
}

EncoderOutput RecurrentEncoder::forward(const torch::Tensor& embedded,
                                        const torch::Tensor& lengths) {
  const auto B = embedded.size(0);
  const auto S = embedded.size(1);
  EncoderOutput encoded;
  encoded.set_lengths(lengths, S, embedded.device());
  const auto& ends = encoded.lengths_on_device;
  const auto reversal = reversed_positions(torch::arange(S, ends.options()), ends);  // [B, S]

  auto x = embedded.transpose(0, 1).contiguous();  // [S, B, E]
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto below = l > 0 ? stack_->layer_input(l, x) : x;
    std::vector<torch::Tensor> inputs = {below};
    if (directions_ == 2) inputs.push_back(reorder(below, reversal));
    auto outputs =
        layers_[l]->sequence_from_zero(torch::stack(inputs)).unbind(0);  // each [S, B, D]
    if (directions_ == 2) outputs[1] = reorder(outputs[1], reversal);
    x = stack_->add_residual(l, x, torch::cat(outputs, -1));  // [S, B, C]
  }
  x = stack_->final_norm(x);

  // The last state of the forward direction is at the last position, that of the backward direction
  // at the first.
  auto position = (ends - 1).view({1, B, 1}).expand({1, B, hidden_size_});
  if (directions_ == 2) position = torch::cat({position, torch::zeros_like(position)}, -1);
  const auto last = x.gather(0, position).squeeze(0);  // [B, C]
  encoded.states = dropout_->forward(x.transpose(0, 1));
  encoded.summary = dropout_->forward(last);
  return encoded;
}

}  // namespace regard
