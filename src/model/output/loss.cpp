#include "model/output/loss.h"

#include "base/special_tokens.h"
#include "kernels/cross_entropy.h"

namespace regard {
namespace {

// Returns Σ_{t' ≥ t} x_t' for each t: [B, T] -> [B, T].
torch::Tensor reversed_cumsum(const torch::Tensor& x) {
  return x.flip(1).cumsum(1).flip(1);
}

}  // namespace

Targets::Targets(const torch::Tensor& all_tokens, const torch::Tensor& real)
    : all(all_tokens), positions(real), tokens(all.flatten().index_select(0, real)) {}

Targets::Targets(const torch::Tensor& all_tokens)
    : Targets(all_tokens, all_tokens.flatten().nonzero().squeeze(1)) {}

Targets Targets::with_padding(const torch::Tensor& all_tokens) {
  Targets targets;
  targets.all = all_tokens;
  targets.tokens = all_tokens.flatten();
  targets.padding = targets.tokens == pad_id;
  return targets;
}

torch::Tensor Targets::rows_of(const torch::Tensor& x) const {
  const auto rows = x.flatten(0, 1);
  return padding.defined() ? rows : rows.index_select(0, positions);
}

torch::Tensor Targets::without_padding(const torch::Tensor& x) const {
  if (!padding.defined()) return x;
  return x.masked_fill(x.dim() == 1 ? padding : padding.unsqueeze(1), 0);
}

torch::Tensor Targets::scatter(const torch::Tensor& x) const {
  if (padding.defined()) {
    return without_padding(x.detach()).to(torch::kDouble).view_as(all);
  }
  return torch::zeros({all.numel()}, x.options().dtype(torch::kDouble))
      .index_copy_(0, positions, x.detach().to(torch::kDouble))
      .view_as(all);
}

Loss cross_entropy(const torch::Tensor& readout, const Targets& targets,
                   const torch::Tensor& weight, const torch::Tensor& bias,
                   const LossOptions& options) {
  const auto [loss, nll] =
      kernels::linear_cross_entropy(targets.rows_of(readout), weight, bias, targets.tokens,
                                    options.label_smoothing, options.consistency, targets.padding);
  return {loss, targets.scatter(nll)};
}

torch::Tensor reinforce(const torch::Tensor& sampled_log_p, const torch::Tensor& nll,
                        const torch::Tensor& real, double mean_log_p) {
  const auto advantage = reversed_cumsum(nll.detach() + mean_log_p * real);  // [B, T]
  return (advantage.to(sampled_log_p.scalar_type()) * sampled_log_p * real).sum();
}

}  // namespace regard
