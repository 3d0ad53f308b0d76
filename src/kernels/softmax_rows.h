// The cross-entropy of rows of logits, and its gradient in place.
#pragma once

#include <cstdint>

namespace regard::kernels {

// logits [n, V] do not include the bias [V]; targets [n], each below V. Writes −log P(target) of
// each row to nll [n] and returns the loss, with label smoothing ε, summed over the rows. Replaces
// the logits by d loss / d logits = softmax(logits + bias) − (1 − ε) one-hot(target) − ε / V and
// adds its sum over rows to d_bias [V]. If d_bias is null, the logits are left undefined instead.
template <typename T>
double softmax_rows(std::int64_t n, std::int64_t V, T* logits, const T* bias,
                    const std::int64_t* targets, double label_smoothing, T* d_bias, double* nll);

}  // namespace regard::kernels
