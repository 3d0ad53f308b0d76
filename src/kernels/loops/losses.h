// The losses of rows of logits, and their gradients in place (cross_entropy.h).
#pragma once

#include <cstdint>
#include <limits>

namespace regard::kernels {

// logits [n, V] do not include the bias [V]; targets [n], each below V. Writes −log P(target) of
// each row to nll [n] and returns the loss, with label smoothing ε, summed over the rows. Replaces
// the logits by d loss / d logits = softmax(logits + bias) − (1 − ε) one-hot(target) − ε / V and
// adds its sum over rows to d_bias [V]. If d_bias is null, the logits are left undefined instead.
template <typename T>
double cross_entropy_rows(std::int64_t n, std::int64_t V, T* logits, const T* bias,
                          const std::int64_t* targets, double label_smoothing, T* d_bias,
                          double* nll);

// The same for pairs of rows, row i of `first` and of `second`, with a divergence between them:
// returns the loss of both with κ (KL(p‖q) + KL(q‖p)), where p and q are their softmax. nll_first
// and nll_second are [n]. Both logits are replaced as above. `scratch` has room for 2 V numbers.
template <typename T>
double consistent_cross_entropy_rows(std::int64_t n, std::int64_t V, T* first, T* second,
                                     const T* bias, const std::int64_t* targets,
                                     double label_smoothing, double consistency, T* d_bias,
                                     double* nll_first, double* nll_second, T* scratch);

// The lower bound of the copied mass of a word behind the vocabulary (copy_mixture.h).
constexpr double least_extended_mass = std::numeric_limits<float>::min();

// The source words of n rows of a pointer-generator, with S positions each.
template <typename T>
struct CopiedRows {
  std::int64_t S;
  const T* gate;            // g [n]
  const T* weights;         // α [n, S], not negative
  const std::int64_t* ids;  // x [n, S], 0 ≤ x < V + S
  T* d_gate;                // [n]
  T* d_weights;             // [n, S]
  T* scratch;               // V + 2 S numbers, the first V + S of them 0 before and after
};

// The same for the probability P(y) of a pointer-generator, with 0 ≤ targets < V + S and the loss
// Σ_y −q_y log P(y) of each row, where q_y is ε / V for y < V, and 1 − ε more for the target. If
// d_bias is not null, writes the gradients of the copies and replaces the logits by theirs. With
// p = softmax(logits + bias), the generated share r_y of P(y), which is 1 for words that are not in
// the source, R = Σ_y q_y r_y and the copied mass m_y = Σ_{s: x_s = y} α_s:
//
//   d logit_y = R p_y − q_y r_y      d g = σ(g) − R      d m_y = −q_y (1 − r_y) / m_y
template <typename T>
double copy_cross_entropy_rows(std::int64_t n, std::int64_t V, T* logits, const T* bias,
                               const std::int64_t* targets, CopiedRows<T> copies,
                               double label_smoothing, T* d_bias, double* nll);

}  // namespace regard::kernels
