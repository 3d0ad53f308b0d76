#include "model/rnn/encoder.h"

#include <string>

namespace regard {
namespace {

// Returns the permutation [B, S] that reverses each sentence: n − 1 − s at position s of a sentence
// of length n. Padding keeps its position. The permutation is its own inverse.
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
  const auto on_device = lengths.to(embedded.device());
  const auto positions = torch::arange(S, on_device.options()).unsqueeze(0);  // [1, S]
  const auto reversal = reversed_positions(positions, on_device);             // [B, S]

  auto x = embedded.transpose(0, 1).contiguous();  // [S, B, E]
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto below = l > 0 ? stack_->layer_input(l, x) : x;
    std::vector<torch::Tensor> inputs = {below};
    if (directions_ == 2) inputs.push_back(reorder(below, reversal));
    const auto projected = layers_[l]
                               ->project(torch::stack(inputs).view({directions_, S * B, -1}))
                               .view({directions_, S, B, -1});  // [G, S, B, K · D]
    const auto first = torch::zeros({directions_, B, layers_[l]->state_size()}, x.options());
    const auto h = layers_[l]->sequence(projected, first);  // [G, S, B, D]
    std::vector<torch::Tensor> outputs = {h[0]};
    if (directions_ == 2) outputs.push_back(reorder(h[1], reversal));
    x = stack_->add_residual(l, x, torch::cat(outputs, -1));  // [S, B, C]
  }
  x = stack_->final_norm(x);

  // The last state of the forward direction is at the last position, that of the backward direction
  // at the first.
  const auto D = hidden_size_;
  const auto end = (on_device - 1).view({1, B, 1}).expand({1, B, D});
  auto last = x.narrow(2, 0, D).gather(0, end)[0];                            // [B, D]
  if (directions_ == 2) last = torch::cat({last, x[0].narrow(1, D, D)}, -1);  // [B, C]
  return {.states = dropout_->forward(x.transpose(0, 1)),
          .mask = positions < on_device.unsqueeze(1),
          .lengths = lengths,
          .summary = dropout_->forward(last)};
}

}  // namespace regard
