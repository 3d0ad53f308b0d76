#include "kernels/loops/layer_norm.h"

#include <cmath>

#include "kernels/loops/vector_math.h"

namespace regard::kernels {
namespace {

// x + dropout(z) for the D elements from index `first` on.
template <typename T>
REGARD_INLINE void add_dropped(std::int64_t D, std::int64_t first, const T* x, const T* z,
                               const DropoutMask& mask, T factor, T* sum) {
#pragma omp simd
  for (std::int64_t i = 0; i < D; ++i) {
    sum[i] = x[i] + (mask.keeps(first + i) ? z[i] * factor : T(0));
  }
}

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU void add_and_norm_rows(std::int64_t n, std::int64_t D, const T* x, const T* z,
                                           const KeyedDropout& dropout, const T* gain,
                                           const T* bias, T* sum, T* y, T* stats) {
  const DropoutMask mask(dropout);
  const T factor = static_cast<T>(1 / (1 - dropout.p));
  const T inverse_D = T(1) / static_cast<T>(D);
  for (std::int64_t row = 0; row < n; ++row, x += D, y += D, stats += 2) {
    const T* s = x;
    if (z != nullptr) {
      if (dropout.p > 0) {
        add_dropped(D, row * D, x, z, mask, factor, sum);
      } else {
#pragma omp simd
        for (std::int64_t i = 0; i < D; ++i) sum[i] = x[i] + z[i];
      }
      s = sum;
      z += D;
      sum += D;
    }
    T total = 0;
#pragma omp simd reduction(+ : total)
    for (std::int64_t i = 0; i < D; ++i) total += s[i];
    const T mean = total * inverse_D;
    T squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < D; ++i) squares += (s[i] - mean) * (s[i] - mean);
    const T scale = T(1) / std::sqrt(squares * inverse_D + static_cast<T>(norm_epsilon));
#pragma omp simd
    for (std::int64_t i = 0; i < D; ++i) y[i] = (s[i] - mean) * scale * gain[i] + bias[i];
    stats[0] = mean;
    stats[1] = scale;
  }
}

// With x̂ = (sum − mean) · scale and a = d_y ⊙ gain:
//   d_x = d_sum + scale · (a − mean(a) − x̂ · mean(a ⊙ x̂))
template <typename T>
REGARD_FOR_EACH_CPU void add_and_norm_rows_backward(std::int64_t n, std::int64_t D, const T* d_sum,
                                                    const T* d_y, const T* sum, const T* stats,
                                                    const T* gain, const KeyedDropout& dropout,
                                                    T* d_x, T* d_z, T* d_gain, T* d_bias) {
  const DropoutMask mask(dropout);
  const T factor = static_cast<T>(1 / (1 - dropout.p));
  const T inverse_D = T(1) / static_cast<T>(D);
  for (std::int64_t row = 0; row < n; ++row, d_y += D, sum += D, stats += 2, d_x += D) {
    const T mean = stats[0];
    const T scale = stats[1];
    T sum_a = 0;
    T sum_ax = 0;
#pragma omp simd reduction(+ : sum_a, sum_ax)
    for (std::int64_t i = 0; i < D; ++i) {
      const T normal = (sum[i] - mean) * scale;
      const T a = d_y[i] * gain[i];
      sum_a += a;
      sum_ax += a * normal;
      d_gain[i] += d_y[i] * normal;
      d_bias[i] += d_y[i];
    }
    const T mean_a = sum_a * inverse_D;
    const T mean_ax = sum_ax * inverse_D;
#pragma omp simd
    for (std::int64_t i = 0; i < D; ++i) {
      const T normal = (sum[i] - mean) * scale;
      d_x[i] = scale * (d_y[i] * gain[i] - mean_a - normal * mean_ax);
    }
    if (d_sum != nullptr) {
#pragma omp simd
      for (std::int64_t i = 0; i < D; ++i) d_x[i] += d_sum[i];
      d_sum += D;
    }
    if (d_z != nullptr) {
#pragma omp simd
      for (std::int64_t i = 0; i < D; ++i) {
        d_z[i] = mask.keeps(row * D + i) ? d_x[i] * factor : T(0);
      }
      d_z += D;
    }
  }
}

#define REGARD_INSTANTIATE(T)                                                                     \
  template void add_and_norm_rows(std::int64_t, std::int64_t, const T*, const T*,                 \
                                  const KeyedDropout&, const T*, const T*, T*, T*, T*);           \
  template void add_and_norm_rows_backward(std::int64_t, std::int64_t, const T*, const T*,        \
                                           const T*, const T*, const T*, const KeyedDropout&, T*, \
                                           T*, T*, T*);
REGARD_INSTANTIATE(float)
REGARD_INSTANTIATE(double)

}  // namespace regard::kernels
