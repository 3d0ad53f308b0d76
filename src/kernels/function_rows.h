// The innermost loops of functions.h. Each element, or each row, is computed independently.
#pragma once

#include <cstdint>

namespace regard::kernels {

enum class Elementwise { tanh, sigmoid, exp, log, softplus, log_sigmoid };

// x [n] -> f(x) [n]. The result does not depend on the place of a number; y may be x.
template <typename T>
void elementwise(Elementwise f, std::int64_t n, const T* x, T* y);

// x [n, width] -> softmax of each row, and its logarithm. Appending −∞ to a row does not change its
// log_softmax_rows.
template <typename T>
void softmax_of_rows(std::int64_t n, std::int64_t width, const T* x, T* y);
template <typename T>
void log_softmax_rows(std::int64_t n, std::int64_t width, const T* x, T* y);

// x [n, width] -> x / max(|x|, least) of each row
template <typename T>
void unit_rows(std::int64_t n, std::int64_t width, T least, const T* x, T* y);

// x [M, n] -> log Σ_m exp(x_m) [n]; −∞ if all are.
template <typename T>
void log_sum_exp_of(std::int64_t M, std::int64_t n, const T* x, T* y);

}  // namespace regard::kernels
