// The cross-entropy of some rows of logits, and its gradient in their place.
#pragma once

#include <cstdint>

namespace regard::kernels {

// logits [n, V] without their bias [V] become the gradient with respect to them,
// d loss / d logits = softmax(logits + bias) − (1 − ε) one-hot(target) − ε / V, and its sum over
// rows is added to d_bias [V]; where d_bias is null, they become nothing of use. targets [n], each
// below V. Writes −log P(target) of each row to nll [n] and returns the loss, with label smoothing
// ε, summed over the rows.
template <typename T>
double softmax_rows(std::int64_t n, std::int64_t V, T* logits, const T* bias,
                    const std::int64_t* targets, double label_smoothing, T* d_bias, double* nll);

}  // namespace regard::kernels
