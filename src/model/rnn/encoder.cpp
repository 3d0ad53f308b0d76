#include "model/rnn/encoder.h"

#include <string>

namespace regard {
namespace {

// [B, S]: position s of a sentence of length n holds n − 1 − s, padding stays where it is. The
// permutation is its own inverse.
torch::Tensor reversed_positions(const torch::Tensor& positions, const torch::Tensor& lengths) {
  const auto reversed = lengths.unsqueeze(1) - 1 - positions;
  return torch::where(reversed >= 0, reversed, positions);
}

// Moves time steps: x [S, B, E], order [B, S] -> [S, B, E].
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
    layers_.push_back(register_module(
        "layer" + std::to_string(l),
        std::make_shared<GruCell>(directions_, input_size, hidden_size_, options.reset_gate)));
    input_size = state_size();
  }
}

EncoderOutput RecurrentEncoder::forward(const torch::Tensor& embedded,
                                        const torch::Tensor& lengths) {
  const auto B = embedded.size(0);
  const auto S = embedded.size(1);
  const auto on_device = lengths.to(embedded.device());
  const auto positions = torch::arange(S, on_device.options()).unsqueeze(0);  // [1, S]
  const auto reversal = reversed_positions(positions, on_device);             // [B, S]

  auto x = embedded.transpose(0, 1).contiguous();  // [S, B, E]
  torch::Tensor h;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (l > 0) x = dropout_->forward(x);
    std::vector<torch::Tensor> readings = {x};
    if (directions_ == 2) readings.push_back(reorder(x, reversal));
    const auto projected = layers_[l]
                               ->project(torch::stack(readings).view({directions_, S * B, -1}))
                               .view({directions_, S, B, -1});  // [G, S, B, 3D]
    h = layers_[l]->sequence(projected, torch::zeros({directions_, B, hidden_size_}, x.options()));
    std::vector<torch::Tensor> sides = {h[0]};
    if (directions_ == 2) sides.push_back(reorder(h[1], reversal));
    x = torch::cat(sides, -1);  // [S, B, C]
  }

  // Both directions have read the whole sentence after its own number of steps.
  const auto end = (on_device - 1).view({1, 1, B, 1}).expand({directions_, 1, B, hidden_size_});
  const auto last = h.gather(1, end).squeeze(1).transpose(0, 1).reshape({B, -1});  // [B, C]
  return {dropout_->forward(x.transpose(0, 1)), positions < on_device.unsqueeze(1),
          dropout_->forward(last)};
}

}  // namespace regard
