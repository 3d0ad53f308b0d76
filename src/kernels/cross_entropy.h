// The output layer fused with its cross-entropy. Works on a few rows at a time, so that there is
// never an [N, V] matrix: the gradient of the logits of these rows replaces them in the cache.
//
//   logits = rows Wᵀ + b     loss = Σ_i Σ_y q_i(y) (−log softmax(logits_i)_y)
//   q_i = (1 − ε) one-hot(target_i) + ε / V            label smoothing (Szegedy et al. 2016)
//
// With a consistency κ > 0, the rows are pairs, row i and row N / 2 + i of the same target, from
// two passes with different dropout, and the loss also has a divergence of their distributions
// (R-Drop, Liang et al. 2021):
//
//   κ Σ_i (KL(p_i ‖ p_{N/2+i}) + KL(p_{N/2+i} ‖ p_i))      p_i = softmax(logits_i)
#pragma once

#include <torch/types.h>

#include "kernels/copy_mixture.h"

namespace regard::kernels {

struct CrossEntropy {
  torch::Tensor loss;  // summed over rows
  torch::Tensor nll;   // −log P(target) of each row [N], double; not differentiable
};

// Computes the loss of rows [N, R], weight W [V, R], bias b [V], targets [N] int64, each below V,
// with label_smoothing ε and consistency κ. Fused on the CPU in single or double precision; on
// other devices composite or, with κ > 0, the reference, which holds the logits of all rows. Rows
// where `ignored` [N] is true have no loss and no gradient; composite, and only with κ = 0. Not
// twice differentiable.
CrossEntropy linear_cross_entropy(const torch::Tensor& rows, const torch::Tensor& weight,
                                  const torch::Tensor& bias, const torch::Tensor& targets,
                                  double label_smoothing, double consistency = 0,
                                  const torch::Tensor& ignored = {});

// The loss for other devices than the CPU: few operations of LibTorch, or one row operator
// (row_operators.h), and the gradient computed with the loss. Holds the logits of at most `piece`
// rows at once.
CrossEntropy linear_cross_entropy_composite(const torch::Tensor& rows, const torch::Tensor& weight,
                                            const torch::Tensor& bias, const torch::Tensor& targets,
                                            double label_smoothing, std::int64_t piece,
                                            const torch::Tensor& ignored = {});

// Reference implementation: LibTorch's operations, on any device.
CrossEntropy linear_cross_entropy_reference(const torch::Tensor& rows, const torch::Tensor& weight,
                                            const torch::Tensor& bias, const torch::Tensor& targets,
                                            double label_smoothing, double consistency = 0);

// The same loss for the probability of a pointer-generator (copy_mixture.h) and targets [N] int64
// of words that can be generated or copied. Label smoothing distributes ε over the V words of the
// vocabulary. Fused on the CPU in single or double precision, unless there are `ignored` rows;
// otherwise the reference, which holds the logits of all rows. Not twice differentiable.
CrossEntropy copy_cross_entropy(const torch::Tensor& rows, const torch::Tensor& weight,
                                const torch::Tensor& bias, const torch::Tensor& targets,
                                const Copies& copies, double label_smoothing,
                                const torch::Tensor& ignored = {});
// Reference implementation: LibTorch's operations, on any device.
CrossEntropy copy_cross_entropy_reference(const torch::Tensor& rows, const torch::Tensor& weight,
                                          const torch::Tensor& bias, const torch::Tensor& targets,
                                          const Copies& copies, double label_smoothing,
                                          const torch::Tensor& ignored = {});

// Returns −log softmax(rows Wᵀ + b)_target of each row [N], double and differentiable, for losses
// that weight each row differently and learn the weights from these values. The backward pass
// computes the logits a second time, so that neither pass holds an [N, V] matrix. Arguments as
// above. Not twice differentiable.
torch::Tensor linear_nll(const torch::Tensor& rows, const torch::Tensor& weight,
                         const torch::Tensor& bias, const torch::Tensor& targets);
// The same for other devices than the CPU: few operations of LibTorch, for at most `piece` rows at
// once.
torch::Tensor linear_nll_composite(const torch::Tensor& rows, const torch::Tensor& weight,
                                   const torch::Tensor& bias, const torch::Tensor& targets,
                                   std::int64_t piece);
// Reference implementation: LibTorch's operations, on any device.
torch::Tensor linear_nll_reference(const torch::Tensor& rows, const torch::Tensor& weight,
                                   const torch::Tensor& bias, const torch::Tensor& targets);

}  // namespace regard::kernels
