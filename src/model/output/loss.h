// The training loss −log P(y | x) = −Σ_t log P(y_t | y_<t, x) over the target tokens, including
// </s>, and its REINFORCE term for hard attention. Padding is ignored.
#pragma once

#include <torch/types.h>

namespace regard {

struct Loss {
  // The scalar that training minimises: the sum over the tokens, with label smoothing, and the
  // terms that training adds (AttentionLoss in seq2seq.h).
  torch::Tensor objective;
  torch::Tensor nll;  // −log P [B, T], without smoothing, 0 at padding, double; not differentiable
};

// Changes of the objective. See kernels/cross_entropy.h for both.
struct LossOptions {
  LossOptions(double smoothing = 0, double weight = 0)  // NOLINT(google-explicit-constructor)
      : label_smoothing(smoothing), consistency(weight) {}

  double label_smoothing;
  double consistency;  // 0 or, if the targets are pairs, the weight of their divergence
};

// The target tokens of a batch.
struct Targets {
  Targets() = default;
  // all is [B, T] int64, 0 at padding. positions [N] are those of the real tokens in all.flatten().
  Targets(const torch::Tensor& all, const torch::Tensor& positions);
  // Finds the positions, for which other devices than the CPU must be waited for.
  Targets(const torch::Tensor& all);  // NOLINT(google-explicit-constructor)
  // Keeps the rows of padding, so that the number of rows does not depend on the sentences: N is
  // B · T, and each function below that takes a row for each token ignores those of padding.
  static Targets with_padding(const torch::Tensor& all);

  // Returns the rows of x [B, T, …]: [N, …].
  torch::Tensor rows_of(const torch::Tensor& x) const;
  // Scatters x [N] to the positions of the tokens: [B, T] double, 0 at padding. Not differentiable.
  torch::Tensor scatter(const torch::Tensor& x) const;
  // Returns x [N, …] with 0 in the rows of padding.
  torch::Tensor without_padding(const torch::Tensor& x) const;

  torch::Tensor all;        // [B, T]
  torch::Tensor positions;  // [N]; undefined with padding
  torch::Tensor tokens;     // [N], the real tokens, or all
  torch::Tensor padding;    // [N] true at padding; undefined if there is none
};

// Returns the cross-entropy of softmax(W readout + b), with weight W [V, R] and bias b [V], for
// readout [B, T, R]. Computes logits at real positions only.
Loss cross_entropy(const torch::Tensor& readout, const Targets& targets,
                   const torch::Tensor& weight, const torch::Tensor& bias,
                   const LossOptions& options);

// REINFORCE (Williams 1992) for hard attention (Xu et al. 2015, section 4.1): a term whose gradient
// is, in expectation over the positions s_t sampled from α_t, the part of the gradient of
// E[−log P(y | x, s)] that goes through α.
//
//   Σ_t (Σ_{t' ≥ t} −log P(y_t') − b_t) log α_t(s_t)      b_t = −mean_log_p · n_t
//
// A position sampled at t does not affect earlier tokens, so the reward has only tokens from t on.
// n_t is their number. The baseline b_t reduces the variance: mean_log_p is the moving average of
// log P per token over the previous updates, and the expectation of the gradient does not depend on
// it. All tensors are [B, T]: sampled_log_p = log α_t(s_t), nll = −log P(y_t), and real is true at
// target tokens. No gradient flows through the factor of log α.
torch::Tensor reinforce(const torch::Tensor& sampled_log_p, const torch::Tensor& nll,
                        const torch::Tensor& real, double mean_log_p);

}  // namespace regard
