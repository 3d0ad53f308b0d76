#include "kernels/gru.h"
#include "kernels/linear.h"

namespace regard::kernels {

torch::Tensor gru_step_composite(const torch::Tensor& x, const torch::Tensor& s,
                                 const torch::Tensor& U, const torch::Tensor& b_U) {
  const auto D = s.size(1);
  const auto x_rz = x.narrow(1, 0, 2 * D);
  const auto x_candidate = x.narrow(1, 2 * D, D);
  if (b_U.defined()) {
    const auto u = product(s, U);  // [B, 3D]
    const auto gates = (x_rz + u.narrow(1, 0, 2 * D)).sigmoid().chunk(2, 1);
    const auto candidate = (x_candidate + gates[0] * (u.narrow(1, 2 * D, D) + b_U)).tanh();
    return torch::lerp(candidate, s, gates[1]);
  }
  const auto gates = add_product(x_rz, s, U.narrow(1, 0, 2 * D)).sigmoid().chunk(2, 1);
  const auto candidate = add_product(x_candidate, gates[0] * s, U.narrow(1, 2 * D, D)).tanh();
  return torch::lerp(candidate, s, gates[1]);  // z ⊙ s + (1 − z) ⊙ s̃
}

GruSequence gru_composite(const torch::Tensor& x, const torch::Tensor& first,
                          const torch::Tensor& U, const torch::Tensor& b_U,
                          const std::optional<GruAttention>& attention) {
  std::vector<torch::Tensor> states;
  std::vector<torch::Tensor> weights;
  auto s = first;
  for (auto x_t : x.unbind(0)) {
    if (attention) {
      weights.push_back(attention_weights_composite(attention->score, s));
      x_t = x_t + weights.back().unsqueeze(1).bmm(attention->mixed).squeeze(1);
    }
    s = gru_step_composite(x_t, s, U, b_U);
    states.push_back(s);
  }
  return {torch::stack(states), attention ? torch::stack(weights) : torch::Tensor()};
}

}  // namespace regard::kernels
