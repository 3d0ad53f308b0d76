#include "kernels/loops/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "kernels/loops/vector_math.h"

namespace regard::kernels {
namespace {

// Elements per loop. The compiler knows the number, so that it generates no second loop for the
// elements that do not fill a vector, which could round differently.
constexpr std::int64_t block = 64;

// Returns x above 20, as LibTorch does.
template <typename T>
REGARD_INLINE T softplus(T x) {
  return x > T(20) ? x : -log_sigmoid(-x);
}

// Returns x Φ(x), with the normal distribution function Φ.
template <typename T>
REGARD_INLINE T gelu(T x) {
  return x * T(0.5) * (T(1) + std::erf(x / std::numbers::sqrt2_v<T>));
}

// Calls f(from, to) for each block of x and y. The last block is padded with ones, for which every
// function is finite.
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
    case Elementwise::gelu:
      for (std::int64_t i = 0; i < n; ++i) y[i] = gelu(x[i]);
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
REGARD_FOR_EACH_CPU void target_log_p_rows(std::int64_t n, std::int64_t width, const T* x,
                                           const std::int64_t* targets, T* log_p) {
  for (std::int64_t row = 0; row < n; ++row, x += width) {
    log_p[row] = x[targets[row]] - log_sum_exp(width, x, largest_of(width, x));
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
  T padded[block];
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const auto size = std::min(block, n - begin);
    std::fill(largest, largest + block, -std::numeric_limits<T>::infinity());
    std::fill(total, total + block, T(0));
    for (std::int64_t m = 0; m < M; ++m) {
      const T* from = x + m * n + begin;
      for (std::int64_t i = 0; i < size; ++i) largest[i] = std::max(largest[i], from[i]);
    }
    for (std::int64_t m = 0; m < M; ++m) {
      std::fill(std::copy(x + m * n + begin, x + m * n + begin + size, padded), padded + block,
                T(0));
#pragma omp simd
      for (std::int64_t i = 0; i < block; ++i) total[i] += vector_exp(padded[i] - largest[i]);
    }
#pragma omp simd
    for (std::int64_t i = 0; i < block; ++i) total[i] = largest[i] + vector_log(total[i]);
    for (std::int64_t i = 0; i < size; ++i) {
      y[begin + i] = std::isinf(largest[i]) ? largest[i] : total[i];
    }
  }
}

#define REGARD_INSTANTIATE(T)                                                                     \
  template void elementwise(Elementwise, std::int64_t, const T*, T*);                             \
  template void softmax_of_rows(std::int64_t, std::int64_t, const T*, T*);                        \
  template void log_softmax_rows(std::int64_t, std::int64_t, const T*, T*);                       \
  template void target_log_p_rows(std::int64_t, std::int64_t, const T*, const std::int64_t*, T*); \
  template void unit_rows(std::int64_t, std::int64_t, T, const T*, T*);                           \
  template void log_sum_exp_of(std::int64_t, std::int64_t, const T*, T*);
REGARD_INSTANTIATE(float)
REGARD_INSTANTIATE(double)

template <typename T>
REGARD_FOR_EACH_CPU void dropout_rows(std::int64_t n, const T* x, const KeyedDropout& dropout,
                                      T* y) {
  const DropoutMask mask(dropout);
  const T factor = static_cast<T>(1 / (1 - dropout.p));
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = mask.keeps(i) ? x[i] * factor : T(0);
}

// NaN stays NaN, so that a loss that is not finite is noticed.
template <typename T>
REGARD_FOR_EACH_CPU void relu_dropout_rows(std::int64_t n, std::int64_t width,
                                           const KeyedDropout& dropout, T* y) {
  const auto count = n * width;
  if (dropout.p > 0) {
    const DropoutMask mask(dropout);
    const T factor = static_cast<T>(1 / (1 - dropout.p));
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
      const T x = y[i] < 0 ? T(0) : y[i] * factor;
      y[i] = mask.keeps(i) ? x : T(0);
    }
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = y[i] < 0 ? T(0) : y[i];
  }
}

// The result y is 0 at every element whose gradient is 0, so that the mask is not needed.
template <typename T>
REGARD_FOR_EACH_CPU void relu_dropout_rows_backward(std::int64_t n, std::int64_t width,
                                                    const KeyedDropout& dropout, const T* y,
                                                    const T* d_y, T* d_x, T* d_b) {
  const T factor = static_cast<T>(1 / (1 - dropout.p));
  std::fill(d_b, d_b + width, T(0));
  for (std::int64_t row = 0; row < n; ++row, y += width, d_y += width, d_x += width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
      d_x[i] = y[i] > 0 ? d_y[i] * factor : T(0);
      d_b[i] += d_x[i];
    }
  }
}

#define REGARD_INSTANTIATE_DROPOUT(T)                                                       \
  template void dropout_rows(std::int64_t, const T*, const KeyedDropout&, T*);              \
  template void relu_dropout_rows(std::int64_t, std::int64_t, const KeyedDropout&, T*);     \
  template void relu_dropout_rows_backward(std::int64_t, std::int64_t, const KeyedDropout&, \
                                           const T*, const T*, T*, T*);
REGARD_INSTANTIATE_DROPOUT(float)
REGARD_INSTANTIATE_DROPOUT(double)

namespace {

// Inserts `value` into the k values in descending order and drops the last. It must be above the
// last.
template <typename T>
REGARD_INLINE void insert(std::int64_t k, T value, std::int64_t index, T* values,
                          std::int64_t* indices) {
  auto place = k - 1;
  for (; place > 0 && values[place - 1] < value; --place) {
    values[place] = values[place - 1];
    indices[place] = indices[place - 1];
  }
  values[place] = value;
  indices[place] = index;
}

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU void top_k_rows(std::int64_t n, std::int64_t V, std::int64_t k, const T* logits,
                                    T* log_p, std::int64_t* indices) {
  for (std::int64_t row = 0; row < n; ++row, logits += V, log_p += k, indices += k) {
    std::fill(log_p, log_p + k, -std::numeric_limits<T>::infinity());
    std::fill(indices, indices + k, 0);
    for (std::int64_t begin = 0; begin < V; begin += block) {
      const auto size = std::min(block, V - begin);
      if (!(largest_of(size, logits + begin) > log_p[k - 1])) continue;  // the usual case
      for (std::int64_t y = begin; y < begin + size; ++y) {
        if (logits[y] > log_p[k - 1]) insert(k, logits[y], y, log_p, indices);
      }
    }
    const T log_total = log_sum_exp(V, logits, log_p[0]);
    for (std::int64_t i = 0; i < k; ++i) log_p[i] -= log_total;
  }
}

template void top_k_rows(std::int64_t, std::int64_t, std::int64_t, const float*, float*,
                         std::int64_t*);
template void top_k_rows(std::int64_t, std::int64_t, std::int64_t, const double*, double*,
                         std::int64_t*);

namespace {

// The exponential functions of a block of draw_from_row().
struct DrawBlock {
  float p[block];

  template <typename T>
  REGARD_INLINE DrawBlock(std::int64_t n, const T* log_p, double largest, double inverse) {
    float logits[block];
    std::fill(logits, logits + block, -std::numeric_limits<float>::infinity());
    if (n >= block) {
#pragma omp simd
      for (std::int64_t i = 0; i < block; ++i) {
        logits[i] = static_cast<float>((log_p[i] - largest) * inverse);
      }
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        logits[i] = static_cast<float>((log_p[i] - largest) * inverse);
      }
    }
#pragma omp simd
    for (std::int64_t i = 0; i < block; ++i) {
      const float e = vector_exp(logits[i]);
      p[i] = logits[i] > -87.0f ? e : 0.0f;  // also for NaN
    }
  }

  REGARD_INLINE double sum() const {
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (std::int64_t i = 0; i < block; ++i) total += static_cast<double>(p[i]);
    return total;
  }
};

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU std::int64_t draw_from_row(std::int64_t n, const T* log_p, double temperature,
                                               double u) {
  const double largest = largest_of(n, log_p);
  const double inverse = 1 / temperature;
  std::vector<double> sums;  // of each block
  for (std::int64_t begin = 0; begin < n; begin += block) {
    sums.push_back(DrawBlock(n - begin, log_p + begin, largest, inverse).sum());
  }
  double remaining = u * std::reduce(sums.begin(), sums.end());
  std::int64_t chosen = -1;  // index of the block; the last possible one if rounding leaves a rest
  for (std::size_t b = 0; b < sums.size(); ++b) {
    if (!(sums[b] > 0)) continue;
    chosen = static_cast<std::int64_t>(b);
    if (remaining < sums[b]) break;
    remaining -= sums[b];
  }
  if (chosen < 0) return -1;
  const auto begin = chosen * block;
  const DrawBlock exponentials(n - begin, log_p + begin, largest, inverse);
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < block && !(remaining < 0); ++i) {
    if (!(exponentials.p[i] > 0)) continue;
    last = begin + i;
    remaining -= static_cast<double>(exponentials.p[i]);
  }
  return last;
}

template std::int64_t draw_from_row(std::int64_t, const float*, double, double);
template std::int64_t draw_from_row(std::int64_t, const double*, double, double);

}  // namespace regard::kernels
