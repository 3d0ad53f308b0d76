#include "kernels/function_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/vector_math.h"

namespace regard::kernels {
namespace {

// Elements per loop. The compiler knows the number, so that it generates no second loop for the
// elements that do not fill a vector, which could round differently.
constexpr std::int64_t block = 64;

template <typename T>
REGARD_INLINE T log_sigmoid(T x) {
  return std::min(x, T(0)) - std::log1p(std::exp(-std::abs(x)));
}

// x itself above 20, as LibTorch.
template <typename T>
REGARD_INLINE T softplus(T x) {
  return x > T(20) ? x : -log_sigmoid(-x);
}

// Calls f(from, to) for blocks of x, the last padded with ones.
template <typename T, typename F>
REGARD_INLINE void in_blocks(std::int64_t n, const T* x, T* y, const F& f) {
  std::int64_t i = 0;
  for (; i + block <= n; i += block) f(x + i, y + i);
  if (i == n) return;
  T last[block];
  std::fill(std::copy(x + i, x + n, last), last + block, T(1));
  f(last, last);
  std::copy(last, last + (n - i), y + i);
}

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU void elementwise(Elementwise f, std::int64_t n, const T* x, T* y) {
  switch (f) {
    case Elementwise::tanh:
      return in_blocks(
          n, x, y, [](const T* from, T* to) __attribute__((always_inline)) {
#pragma omp simd
            for (std::int64_t i = 0; i < block; ++i) to[i] = vector_tanh(from[i]);
          });
    case Elementwise::sigmoid:
      return in_blocks(
          n, x, y, [](const T* from, T* to) __attribute__((always_inline)) {
#pragma omp simd
            for (std::int64_t i = 0; i < block; ++i) to[i] = vector_sigmoid(from[i]);
          });
    case Elementwise::exp:
      return in_blocks(
          n, x, y, [](const T* from, T* to) __attribute__((always_inline)) {
#pragma omp simd
            for (std::int64_t i = 0; i < block; ++i) to[i] = vector_exp(from[i]);
          });
    case Elementwise::log:
      return in_blocks(
          n, x, y, [](const T* from, T* to) __attribute__((always_inline)) {
#pragma omp simd
            for (std::int64_t i = 0; i < block; ++i) to[i] = vector_log(from[i]);
          });
    case Elementwise::softplus:
      for (std::int64_t i = 0; i < n; ++i) y[i] = softplus(x[i]);
      return;
    case Elementwise::log_sigmoid:
      for (std::int64_t i = 0; i < n; ++i) y[i] = log_sigmoid(x[i]);
      return;
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void softmax_of_rows(std::int64_t n, std::int64_t width, const T* x, T* y) {
  for (std::int64_t row = 0; row < n; ++row, x += width, y += width) {
    std::copy(x, x + width, y);
    softmax_in_place(width, y);
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void log_softmax_rows(std::int64_t n, std::int64_t width, const T* x, T* y) {
  for (std::int64_t row = 0; row < n; ++row, x += width, y += width) {
    const T log_total = log_sum_exp(width, x, largest_of(width, x));
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] - log_total;
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void unit_rows(std::int64_t n, std::int64_t width, T least, const T* x, T* y) {
  for (std::int64_t row = 0; row < n; ++row, x += width, y += width) {
    const T norm = std::max(std::sqrt(dot(width, x, x)), least);
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] / norm;
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void log_sum_exp_of(std::int64_t M, std::int64_t n, const T* x, T* y) {
  T largest[block];
  T total[block];
  T these[block];
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const auto size = std::min(block, n - begin);
    std::fill(largest, largest + block, -std::numeric_limits<T>::infinity());
    std::fill(total, total + block, T(0));
    for (std::int64_t m = 0; m < M; ++m) {
      const T* from = x + m * n + begin;
      for (std::int64_t i = 0; i < size; ++i) largest[i] = std::max(largest[i], from[i]);
    }
    for (std::int64_t m = 0; m < M; ++m) {
      std::fill(std::copy(x + m * n + begin, x + m * n + begin + size, these), these + block, T(0));
#pragma omp simd
      for (std::int64_t i = 0; i < block; ++i) total[i] += vector_exp(these[i] - largest[i]);
    }
#pragma omp simd
    for (std::int64_t i = 0; i < block; ++i) total[i] = largest[i] + vector_log(total[i]);
    for (std::int64_t i = 0; i < size; ++i) {
      y[begin + i] = std::isinf(largest[i]) ? largest[i] : total[i];
    }
  }
}

#define REGARD_INSTANTIATE(T)                                               \
  template void elementwise(Elementwise, std::int64_t, const T*, T*);       \
  template void softmax_of_rows(std::int64_t, std::int64_t, const T*, T*);  \
  template void log_softmax_rows(std::int64_t, std::int64_t, const T*, T*); \
  template void unit_rows(std::int64_t, std::int64_t, T, const T*, T*);     \
  template void log_sum_exp_of(std::int64_t, std::int64_t, const T*, T*);
REGARD_INSTANTIATE(float)
REGARD_INSTANTIATE(double)

}  // namespace regard::kernels
