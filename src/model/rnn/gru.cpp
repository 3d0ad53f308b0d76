#include "model/rnn/gru.h"

#include <vector>

namespace regard {

GruCell::GruCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, ResetGate reset)
    : Cell(G, input_size, hidden_size, 3) {
  if (reset == ResetGate::after) b_U_ = register_parameter("b_U", torch::zeros({G, 1, D_}));
}

torch::Tensor GruCell::b_U(std::int64_t g) const {
  return b_U_.defined() ? b_U_[g][0] : torch::Tensor();
}

torch::Tensor GruCell::step(const torch::Tensor& projected, const torch::Tensor& state) {
  return kernels::gru_step(projected, state, U_[0], b_U(0));
}

torch::Tensor GruCell::sequence(const torch::Tensor& projected, const torch::Tensor& state) {
  std::vector<torch::Tensor> states;
  for (std::int64_t g = 0; g < U_.size(0); ++g) {
    states.push_back(kernels::gru(projected[g], state[g], U_[g], b_U(g)).states);
  }
  return torch::stack(states);  // [G, T, B, D]
}

std::optional<kernels::GruSequence> GruCell::attended_sequence(
    const torch::Tensor& projected, const torch::Tensor& state,
    const kernels::GruAttention& attention) {
  return kernels::gru(projected, state, U_[0], b_U(0), attention);
}

}  // namespace regard
