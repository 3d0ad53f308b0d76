#include "loss/reinforce.h"

namespace regard {
namespace {

// Σ_{t' ≥ t} x_t'
torch::Tensor from_here_on(const torch::Tensor& x) {
  return x.flip(1).cumsum(1).flip(1);
}

}  // namespace

torch::Tensor reinforce(const torch::Tensor& log_choice, const torch::Tensor& nll,
                        const torch::Tensor& real, double mean_log_p) {
  const auto advantage = from_here_on(nll.detach() + mean_log_p * real);  // [B, T]
  return (advantage.to(log_choice.scalar_type()) * log_choice * real).sum();
}

}  // namespace regard
