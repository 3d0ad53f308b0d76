// exp, log, sigmoid and tanh, loops over a row, and a transposition, in a form that compilers
// vectorize. For the loops of this folder only.
//
// Single precision: exp by reduction to |r| <= ln 2 / 2 and a polynomial of degree 7 (after Cephes'
// expf). Its relative error is below 2e-7 between −87 and 88; x is clamped to this range, so that
// the result is never 0 (1.6e-38 for −∞) and never infinite. tanh and sigmoid use it, with absolute
// errors below 2e-7. log by a polynomial of degree 9 on the mantissa (after Cephes' logf; relative
// error below 2e-7), for normal finite numbers only.
//
// Double precision uses the standard library: it is for tests, not for speed.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

// Compiles a function, with all that it inlines, for several generations of x86-64. The program
// chooses one when it starts. Off under ThreadSanitizer: the function that chooses runs before the
// sanitizer is initialised, and would call it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define REGARD_FOR_EACH_CPU \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define REGARD_FOR_EACH_CPU
#endif
#define REGARD_INLINE inline __attribute__((always_inline))

namespace regard::kernels {

template <typename T>
REGARD_INLINE T log_sigmoid(T x) {
  return std::min(x, T(0)) - std::log1p(std::exp(-std::abs(x)));
}

// Returns a_f, b_f, a_f+1, b_f+1, … with f = first: as many elements as a vector has.
template <int first, typename Vector, int... i>
REGARD_INLINE Vector interleave(Vector a, Vector b, std::integer_sequence<int, i...>) {
  constexpr int count = sizeof...(i);
  return __builtin_shufflevector(a, b, (i % 2 * count + i / 2 + first)...);
}

// Transposes as many vectors as each has elements, by log2(count) perfect shuffles of all.
template <typename Vector, int count>
REGARD_INLINE void transpose(Vector (&square)[count]) {
  constexpr std::make_integer_sequence<int, count> indices;
#pragma GCC unroll 4
  for (int step = 1; step < count; step *= 2) {
    Vector shuffled[count];
#pragma GCC unroll 8
    for (int t = 0; t < count / 2; ++t) {
      shuffled[2 * t] = interleave<0>(square[t], square[t + count / 2], indices);
      shuffled[2 * t + 1] = interleave<count / 2>(square[t], square[t + count / 2], indices);
    }
#pragma GCC unroll 16
    for (int t = 0; t < count; ++t) square[t] = shuffled[t];
  }
}

REGARD_INLINE float vector_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float round = 12582912.0f;  // 1.5 · 2^23: adding it rounds to a whole number
  const float n = (x * 1.44269504f + round) - round;
  // ln 2 = 0.693359375 − 2.12194440e-4 in two parts: the product of n and the first is exact.
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}
REGARD_INLINE double vector_exp(double x) {
  return std::exp(x);
}

template <typename T>
REGARD_INLINE T vector_sigmoid(T x) {
  return T(1) / (T(1) + vector_exp(-x));
}

REGARD_INLINE float vector_tanh(float x) {
  return 1.0f - 2.0f / (1.0f + vector_exp(2.0f * x));
}
REGARD_INLINE double vector_tanh(double x) {
  return std::tanh(x);
}

REGARD_INLINE float vector_log(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const float m = std::bit_cast<float>((bits & 0x007fffff) | 0x3f000000);  // from 1/2 to 1
  const bool low = m < 0.707106781f;  // sqrt(1/2): then 2m is nearer to 1
  const float e = static_cast<float>((bits >> 23) - 126 - (low ? 1 : 0));
  const float r = (low ? m + m : m) - 1.0f;
  const float z = r * r;
  float p = 7.0376836292e-2f;
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  p = p * r * z - 2.12194440e-4f * e;
  return (p - 0.5f * z + r) + 0.693359375f * e;
}
REGARD_INLINE double vector_log(double x) {
  return std::log(x);
}

template <typename T>
REGARD_INLINE T dot(std::int64_t n, const T* a, const T* b) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <typename T>
REGARD_INLINE void add_scaled(std::int64_t n, T factor, const T* a, T* sum) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) sum[i] += factor * a[i];
}

template <typename T>
REGARD_INLINE T largest_of(std::int64_t n, const T* x) {
  T largest = x[0];
#pragma omp simd reduction(max : largest)
  for (std::int64_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

// Returns log Σ_i exp(x_i), given the largest x_i. Appending −∞ does not change a bit of the
// result: element i is always added to sum number i modulo 64, and nothing is added for −∞, of
// which vector_exp() is not 0.
template <typename T>
REGARD_INLINE T log_sum_exp(std::int64_t n, const T* x, T largest) {
  constexpr std::int64_t lanes = 64;
  T sums[lanes] = {};
  T last[lanes];
  for (std::int64_t begin = 0; begin < n; begin += lanes) {
    const T* from = x + begin;
    if (n - begin < lanes) {
      std::fill(std::copy(from, x + n, last), last + lanes, -std::numeric_limits<T>::infinity());
      from = last;
    }
#pragma omp simd
    for (std::int64_t i = 0; i < lanes; ++i) {
      const T e = vector_exp(from[i] - largest);
      sums[i] += from[i] - largest < T(-87) ? T(0) : e;
    }
  }
  T total = 0;
  for (const auto sum : sums) total += sum;
  return largest + std::log(total);
}

// α = softmax(e) in place, n at least 1.
template <typename T>
REGARD_INLINE void softmax_in_place(std::int64_t n, T* e) {
  const T largest = largest_of(n, e);
#pragma omp simd
  for (std::int64_t s = 0; s < n; ++s) e[s] = vector_exp(e[s] - largest);
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t s = 0; s < n; ++s) sum += e[s];
  const T inverse = 1 / sum;
#pragma omp simd
  for (std::int64_t s = 0; s < n; ++s) e[s] *= inverse;
}

// α = softmax(scale · e) in place, of n numbers. Works on whole blocks, which is faster, because no
// elements are left over from a vector: e must have room for with_room_for_softmax(n) numbers.
// Overwrites those behind the first n.
constexpr std::int64_t softmax_block = 16;
constexpr std::int64_t with_room_for_softmax(std::int64_t n) {
  return (n + softmax_block - 1) / softmax_block * softmax_block;
}
template <typename T>
REGARD_INLINE void softmax_in_blocks(std::int64_t n, T scale, T* e) {
  const auto end = with_room_for_softmax(n);
  std::fill(e + n, e + end, -std::numeric_limits<T>::infinity());
  T lanes[softmax_block];
  std::fill(lanes, lanes + softmax_block, -std::numeric_limits<T>::infinity());
  for (std::int64_t begin = 0; begin < end; begin += softmax_block) {
#pragma omp simd
    for (std::int64_t i = 0; i < softmax_block; ++i) {
      const T x = scale * e[begin + i];
      e[begin + i] = x;
      lanes[i] = x > lanes[i] ? x : lanes[i];
    }
  }
  const T largest = largest_of(softmax_block, lanes);
  std::fill(lanes, lanes + softmax_block, T(0));
  for (std::int64_t begin = 0; begin < end; begin += softmax_block) {
#pragma omp simd
    for (std::int64_t i = 0; i < softmax_block; ++i) {
      const T x = vector_exp(e[begin + i] - largest);
      e[begin + i] = x;
      lanes[i] += x;
    }
  }
  T sum = 0;
#pragma omp simd reduction(+ : sum)  // NOLINTNEXTLINE(modernize-loop-convert): simd needs an index
  for (std::int64_t i = 0; i < softmax_block; ++i) sum += lanes[i];
  const T inverse = 1 / sum;
  for (std::int64_t begin = 0; begin < end; begin += softmax_block) {
#pragma omp simd
    for (std::int64_t i = 0; i < softmax_block; ++i) e[begin + i] *= inverse;
  }
}

}  // namespace regard::kernels
