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

// Sets the states x [S, B, C] at padding to zero, and concatenates pairs of consecutive states:
// [ceil(S / 2), B, 2 C].
torch::Tensor concatenate_pairs(const torch::Tensor& x, const torch::Tensor& mask) {
  const auto [S, B, C] = std::tuple(x.size(0), x.size(1), x.size(2));
  auto states = torch::where(mask.t().unsqueeze(-1), x, torch::zeros({}, x.options()));
  if (S % 2 == 1) states = torch::constant_pad_nd(states, {0, 0, 0, 0, 0, 1});
  return states.view({(S + 1) / 2, 2, B, C}).transpose(1, 2).reshape({(S + 1) / 2, B, 2 * C});
}

}  // namespace

RecurrentEncoder::RecurrentEncoder(const EncoderOptions& options, double state_dropout,
                                   bool want_last_states)
    : directions_(options.bidirectional ? 2 : 1),
      reverse_(options.reverse),
      want_last_states_(want_last_states),
      hidden_size_(options.hidden_size),
      pyramidal_(options.pyramidal),
      dropout_(register_module("dropout", std::make_shared<Dropout>(state_dropout))) {
  auto input_size = options.embedding_dim;
  for (std::int64_t l = 0; l < options.layers; ++l) {
    layers_.push_back(register_module("layer" + std::to_string(l),
                                      std::make_shared<Cell>(options.cell, directions_, input_size,
                                                             hidden_size_, options.reset_gate)));
    input_size = (pyramidal_ ? 2 : 1) * state_size();
  }
  stack_ = register_module("stack",
                           std::make_shared<Stack>(options.layers, state_size(), options.residual,
                                                   options.layer_norm, state_dropout));
}

torch::Tensor RecurrentEncoder::at_ends(const std::vector<torch::Tensor>& parts,
                                        const torch::Tensor& ends) const {
  const auto position = (ends - 1).view({1, -1, 1}).expand({1, -1, hidden_size_});
  std::vector<torch::Tensor> last;
  for (std::size_t g = 0; g < parts.size(); ++g) {
    last.push_back(is_backward(g) ? parts[g][0] : parts[g].gather(0, position).squeeze(0));
  }
  return torch::cat(last, 1);
}

EncoderOutput RecurrentEncoder::forward(const torch::Tensor& embedded, const torch::Tensor& lengths,
                                        std::vector<torch::Tensor>* /*self_attention*/) {
  EncoderOutput encoded;
  torch::Tensor reversal;  // [B, S]
  const auto& ends = encoded.lengths_on_device;
  const auto set_lengths = [&](const torch::Tensor& of_layer, std::int64_t S) {
    encoded.set_lengths(of_layer, S, embedded.device());
    reversal = reversed_positions(torch::arange(S, ends.options()), ends);
  };
  set_lengths(lengths, embedded.size(1));
  const auto in_order = [&](std::vector<torch::Tensor> parts) {  // of each direction
    for (std::size_t g = 0; g < parts.size(); ++g) {
      if (is_backward(g)) parts[g] = reorder(parts[g], reversal);
    }
    return parts;
  };

  auto x = embedded.transpose(0, 1).contiguous();  // [S, B, E]
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    auto below = l > 0 ? stack_->layer_input(l, x) : x;
    if (l > 0 && pyramidal_) {
      below = concatenate_pairs(below, encoded.mask);  // [ceil(S / 2), B, 2 C]
      set_lengths(divide_up(encoded.lengths, 2), below.size(0));
    }
    const auto inputs =
        in_order(std::vector<torch::Tensor>(static_cast<std::size_t>(directions_), below));
    const auto all = layers_[l]->sequence_from_zero(torch::stack(inputs), want_last_states_);
    const auto outputs = in_order(all.outputs.unbind(0));  // each [S, B, D]
    if (want_last_states_) {
      auto last = at_ends(outputs, ends);
      if (all.memory.defined()) {
        last = torch::cat({last, at_ends(in_order(all.memory.unbind(0)), ends)}, 1);
      }
      encoded.last_states.push_back(last);
    }
    x = stack_->add_residual(l, x, torch::cat(outputs, -1));  // [S, B, C]
  }
  x = stack_->final_norm(x);
  encoded.states = dropout_->forward(x.transpose(0, 1));
  encoded.summary = dropout_->forward(at_ends(x.split(hidden_size_, -1), ends));
  return encoded;
}

}  // namespace regard
