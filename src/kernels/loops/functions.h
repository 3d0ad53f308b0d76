// The innermost loops over elements and rows: functions and dropout (functions.h), the largest
// logits (token_probabilities.h).
#pragma once

#include <cstdint>

#include "kernels/keyed_dropout.h"

namespace regard::kernels {

// Functions that elementwise() computes independently for each element.
enum class Elementwise { tanh, sigmoid, exp, log, softplus, log_sigmoid, gelu };

// x [n] -> y = f(x) [n]. The result for a number does not depend on its place in x. y may be x.
template <typename T>
void elementwise(Elementwise f, std::int64_t n, const T* x, T* y);

// x [n, width] -> y, the softmax of each row, or its logarithm. Appending −∞ to a row does not
// change the other results of log_softmax_rows().
template <typename T>
void softmax_of_rows(std::int64_t n, std::int64_t width, const T* x, T* y);
template <typename T>
void log_softmax_rows(std::int64_t n, std::int64_t width, const T* x, T* y);

// log_softmax_rows() at one element of each row: x [n, width], targets [n] below width -> log_p [n]
template <typename T>
void target_log_p_rows(std::int64_t n, std::int64_t width, const T* x, const std::int64_t* targets,
                       T* log_p);

// x [n, width] -> y = x / max(|x|, least) for each row
template <typename T>
void unit_rows(std::int64_t n, std::int64_t width, T least, const T* x, T* y);

// x [M, n] -> y = log Σ_m exp(x_m) [n]; −∞ where all x_m are −∞.
template <typename T>
void log_sum_exp_of(std::int64_t M, std::int64_t n, const T* x, T* y);

// y = dropout(x) [n]. y may be x.
template <typename T>
void dropout_rows(std::int64_t n, const T* x, const KeyedDropout& dropout, T* y);

// y = dropout(max(0, y)) in place [n, width], and its gradient from the result y:
// d_y [n, width] -> d_x [n, width], and its sum over rows d_b [width].
template <typename T>
void relu_dropout_rows(std::int64_t n, std::int64_t width, const KeyedDropout& dropout, T* y);
template <typename T>
void relu_dropout_rows_backward(std::int64_t n, std::int64_t width, const KeyedDropout& dropout,
                                const T* y, const T* d_y, T* d_x, T* d_b);

// The log-probabilities of the largest logits: [n, V] -> the k largest of each row, largest first,
// lower indices first among equals: indices [n, k], and log softmax(logits) there [n, k].
template <typename T>
void top_k_rows(std::int64_t n, std::int64_t V, std::int64_t k, const T* logits, T* log_p,
                std::int64_t* indices);

// Draws an index y of log_p [n] with probability ∝ exp(log_p_y / τ), given u, uniform in [0, 1);
// −1 if all log_p are −∞ or NaN. The exponential functions are in single precision, 0 below
// exp(−87).
template <typename T>
std::int64_t draw_from_row(std::int64_t n, const T* log_p, double temperature, double u);

}  // namespace regard::kernels
