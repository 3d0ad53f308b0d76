// The training loss −log P(y | x) = −Σ_t log P(y_t | y_<t, x) over the real target tokens, </s>
// included, and the terms that stand for it. Padding counts nothing.
#pragma once

#include <torch/types.h>

namespace regard {

struct Loss {
  torch::Tensor objective;  // minimised: a sum over tokens, smoothed, with added terms
  torch::Tensor nll;  // −log P [B, T], without smoothing, 0 at padding, double; not differentiable
};

// Scatters the nll of the real positions [N], in their order in targets [B, T], to Loss::nll.
torch::Tensor at_targets(const torch::Tensor& nll, const torch::Tensor& targets);

// readout [B, T, R], targets [B, T] int64 with 0 at padding. The output layer W [V, R], b [V] is
// applied to real positions only. With label smoothing ε (Szegedy et al. 2016), the target
// distribution is (1 − ε) one-hot + ε / V.
Loss cross_entropy(const torch::Tensor& readout, const torch::Tensor& targets,
                   const torch::Tensor& weight, const torch::Tensor& bias, double label_smoothing);

// REINFORCE (Williams 1992) for hard attention (Xu et al. 2015, section 4.1): a term whose gradient
// is, in expectation over the positions s_t sampled from α_t, the part of the gradient of
// E[−log P(y | x, s)] that goes through α.
//
//   Σ_t (Σ_{t' ≥ t} −log P(y_t') − b_t) log α_t(s_t)      b_t = −mean log P · tokens from t on
//
// A position sampled at t does not affect earlier tokens, so only the later ones count. All [B, T]:
// sampled_log_p = log α_t(s_t), nll = −log P(y_t), real is true at target tokens. mean_log_p is the
// moving average of log P per token over the updates before; the expectation does not depend on it.
// No gradient flows through the factor of log α.
torch::Tensor reinforce(const torch::Tensor& sampled_log_p, const torch::Tensor& nll,
                        const torch::Tensor& real, double mean_log_p);

}  // namespace regard
