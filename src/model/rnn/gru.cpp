#include "model/rnn/gru.h"

#include "model/initialisation.h"

namespace regard {

GruCell::GruCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, ResetGate reset)
    : reset_(reset) {
  const auto I = input_size;
  const auto D = hidden_size;
  W_ = register_parameter("W", torch::empty({G, I, 3 * D}));
  U_ = register_parameter("U", torch::empty({G, D, 3 * D}));
  b_ = register_parameter("b", torch::zeros({G, 1, 3 * D}));
  if (reset_ == ResetGate::after) b_U_ = register_parameter("b_U", torch::zeros({G, 1, D}));
  for (std::int64_t g = 0; g < G; ++g) {
    for (std::int64_t gate = 0; gate < 3; ++gate) {
      xavier_uniform(W_[g].narrow(1, gate * D, D));
      orthogonal(U_[g].narrow(1, gate * D, D));
    }
  }
}

torch::Tensor GruCell::project(const torch::Tensor& x) {
  return torch::baddbmm(b_, x, W_);
}

torch::Tensor GruCell::step(const torch::Tensor& projected, const torch::Tensor& state) {
  return kernels::gru_step(projected, state, U_[0], b_U(0));
}

torch::Tensor GruCell::b_U(std::int64_t g) const {
  return b_U_.defined() ? b_U_[g][0] : torch::Tensor();
}

torch::Tensor GruCell::sequence(const torch::Tensor& projected, const torch::Tensor& state) {
  std::vector<torch::Tensor> states;
  for (std::int64_t g = 0; g < U_.size(0); ++g) {
    states.push_back(kernels::gru(projected[g], state[g], U_[g], b_U(g)).states);
  }
  return torch::stack(states);  // [G, T, B, D]
}

kernels::GruSequence GruCell::sequence(const torch::Tensor& projected, const torch::Tensor& state,
                                       const kernels::GruAttention& attention) {
  return kernels::gru(projected, state, U_[0], b_U(0), attention);
}

}  // namespace regard
