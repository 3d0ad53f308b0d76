// The training loss −log P(y | c) = −Σ_t log P(y_t | y_<t, c) over the real target tokens, </s>
// included; padding counts nothing.
#pragma once

#include <torch/types.h>

namespace regard {

struct Loss {
  torch::Tensor
      objective;      // what is minimised, a sum over tokens: smoothed, and what else there is
  torch::Tensor nll;  // −log P [B, T], without smoothing, 0 at padding, double; not differentiable
};

// The nll of real positions [N], in the order in which they stand in targets [B, T], as Loss has
// it.
torch::Tensor at_targets(const torch::Tensor& nll, const torch::Tensor& targets);

// readout [B, T, R], targets [B, T] int64 with 0 at padding; the output layer W [V, R], b [V] is
// applied to the real positions only. With label smoothing ε (Szegedy et al. 2016), the target
// distribution is (1 − ε) one-hot + ε / V everywhere.
Loss cross_entropy(const torch::Tensor& readout, const torch::Tensor& targets,
                   const torch::Tensor& weight, const torch::Tensor& bias, double label_smoothing);

}  // namespace regard
