#include "model/output/loss.h"

#include "kernels/cross_entropy.h"

namespace regard {
namespace {

// Returns Σ_{t' ≥ t} x_t' for each t: [B, T] -> [B, T].
torch::Tensor reversed_cumsum(const torch::Tensor& x) {
  return x.flip(1).cumsum(1).flip(1);
}

}  // namespace

torch::Tensor scatter_to_targets(const torch::Tensor& x, const torch::Tensor& targets) {
  const auto real = targets.flatten().nonzero().squeeze(1);  // [N]
  return torch::zeros({targets.numel()}, x.options().dtype(torch::kDouble))
      .index_copy(0, real, x.detach().to(torch::kDouble))
      .view_as(targets);
}

Loss cross_entropy(const torch::Tensor& readout, const torch::Tensor& targets,
                   const torch::Tensor& weight, const torch::Tensor& bias, double label_smoothing) {
  const auto real = targets.flatten().nonzero().squeeze(1);       // [N]
  const auto y = targets.flatten().index_select(0, real);         // [N]
  const auto rows = readout.flatten(0, 1).index_select(0, real);  // [N, R]
  const auto [loss, nll] = kernels::linear_cross_entropy(rows, weight, bias, y, label_smoothing);
  return {loss, scatter_to_targets(nll, targets)};
}

torch::Tensor reinforce(const torch::Tensor& sampled_log_p, const torch::Tensor& nll,
                        const torch::Tensor& real, double mean_log_p) {
  const auto advantage = reversed_cumsum(nll.detach() + mean_log_p * real);  // [B, T]
  return (advantage.to(sampled_log_p.scalar_type()) * sampled_log_p * real).sum();
}

}  // namespace regard
