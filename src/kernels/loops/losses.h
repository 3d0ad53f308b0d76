// The losses of rows of logits, and their gradients in place (cross_entropy.h).
#pragma once

#include <cstdint>

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

// What rows of a pointer-generator copy (copy_mixture.h), for n rows and S source positions.
template <typename T>
struct CopiedRows {
  std::int64_t S;
  const T* gate;            // g [n]
  const T* weights;         // α [n, S]
  const std::int64_t* ids;  // x [n, S], below V + S
  T* d_gate;                // [n], written with d_bias
  T* d_weights;             // [n, S], written with d_bias
  T* scratch;               // V + 2 S numbers, the first V + S of them 0 before and after
};

// The same as cross_entropy_rows() for P of a pointer-generator and targets below V + S. The loss
// is −(1 − ε) log P(target) − ε / V Σ_{y < V} log P(y).
template <typename T>
double copy_cross_entropy_rows(std::int64_t n, std::int64_t V, T* logits, const T* bias,
                               const std::int64_t* targets, CopiedRows<T> copies,
                               double label_smoothing, T* d_bias, double* nll);

}  // namespace regard::kernels
