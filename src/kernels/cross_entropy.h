// The output layer and its cross-entropy in one, a piece of the rows at a time: there is never a
// [N, V] matrix, and the logits of a piece become their own gradient while they are in the cache.
//
//   logits = rows Wᵀ + b     loss = Σ_i Σ_y q_i(y) (−log softmax(logits_i)_y)
//   q_i = (1 − ε) one-hot(target_i) + ε / V            label smoothing (Szegedy et al. 2016)
#pragma once

#include <torch/types.h>

namespace regard::kernels {

struct CrossEntropy {
  torch::Tensor loss;  // a sum over rows
  torch::Tensor nll;   // −log P(target) of each row [N], double; not differentiable
};

// rows [N, R], weight W [V, R], bias b [V], targets [N] int64. On the CPU in single or double
// precision, else the composite. The gradient cannot itself be differentiated.
CrossEntropy linear_cross_entropy(const torch::Tensor& rows, const torch::Tensor& weight,
                                  const torch::Tensor& bias, const torch::Tensor& targets,
                                  double label_smoothing);

// The same from LibTorch's operations, on any device.
CrossEntropy linear_cross_entropy_composite(const torch::Tensor& rows, const torch::Tensor& weight,
                                            const torch::Tensor& bias, const torch::Tensor& targets,
                                            double label_smoothing);

}  // namespace regard::kernels
