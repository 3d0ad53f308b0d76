// The loops of layer_norm.h, row by row. The result of a row does not depend on the other rows.
#pragma once

#include <cstdint>

#include "kernels/keyed_dropout.h"

namespace regard::kernels {

constexpr double norm_epsilon = 1e-5;

// x [n, D], z [n, D], gain and bias [D]
//   -> sum = x + dropout(z) [n, D], y = norm(sum) [n, D],
//      stats [n, 2]: the mean of each row of the sum, and 1 / sqrt(variance + norm_epsilon).
// If z is null, the sum is x and is not written.
template <typename T>
void add_and_norm_rows(std::int64_t n, std::int64_t D, const T* x, const T* z,
                       const KeyedDropout& dropout, const T* gain, const T* bias, T* sum, T* y,
                       T* stats);

// The gradients of add_and_norm_rows(): d_sum [n, D] or null, d_y [n, D], sum [n, D], stats [n, 2]
//   -> d_x [n, D], d_z [n, D] unless it is null; adds to d_gain [D] and d_bias [D].
template <typename T>
void add_and_norm_rows_backward(std::int64_t n, std::int64_t D, const T* d_sum, const T* d_y,
                                const T* sum, const T* stats, const T* gain,
                                const KeyedDropout& dropout, T* d_x, T* d_z, T* d_gain, T* d_bias);

}  // namespace regard::kernels
