#include "kernels/loops/heads.h"

#include <algorithm>
#include <vector>

#include "base/cpu.h"
#include "kernels/loops/head_loops.h"
#include "kernels/loops/vector_math.h"
#include "kernels/loops/weighted_sums.h"

namespace regard::kernels {
namespace {

constexpr int at_once = 4;  // keys whose products with a query are computed together

// Sums the elements of each of four vectors of 64 bytes.
template <typename Vector>
REGARD_INLINE void sums_of(const Vector (&x)[at_once], float (&sums)[at_once]) {
  typedef float Half __attribute__((vector_size(32)));
  typedef float Quarter __attribute__((vector_size(16)));
  Quarter parts[at_once];
#pragma GCC unroll 4
  for (int j = 0; j < at_once; ++j) {
    const Half half = __builtin_shufflevector(x[j], x[j], 0, 1, 2, 3, 4, 5, 6, 7) +
                      __builtin_shufflevector(x[j], x[j], 8, 9, 10, 11, 12, 13, 14, 15);
    parts[j] = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
               __builtin_shufflevector(half, half, 4, 5, 6, 7);
  }
  const Quarter a = __builtin_shufflevector(parts[0], parts[1], 0, 4, 2, 6) +
                    __builtin_shufflevector(parts[0], parts[1], 1, 5, 3, 7);
  const Quarter b = __builtin_shufflevector(parts[2], parts[3], 0, 4, 2, 6) +
                    __builtin_shufflevector(parts[2], parts[3], 1, 5, 3, 7);
  const Quarter all =
      __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  for (int j = 0; j < at_once; ++j) sums[j] = all[j];
}
template <typename Vector>
REGARD_INLINE void sums_of(const Vector (&x)[at_once], double (&sums)[at_once]) {
  for (int j = 0; j < at_once; ++j) {
    sums[j] = 0;
    for (int i = 0; i < 8; ++i) sums[j] += x[j][i];
  }
}

// Computes q · k_j for four keys, each summed independently.
template <typename T>
REGARD_INLINE void four_dots(std::int64_t n, const T* q, const T* const (&k)[at_once],
                             T (&dots)[at_once]) {
  constexpr int width = 64 / sizeof(T);
  typedef T Vector __attribute__((vector_size(64)));
  typedef T Unaligned __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
  Vector sums[at_once] = {};
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    const Vector x = *reinterpret_cast<const Unaligned*>(q + i);
#pragma GCC unroll 4
    for (int j = 0; j < at_once; ++j) {
      sums[j] += x * *reinterpret_cast<const Unaligned*>(k[j] + i);
    }
  }
  T rest[at_once] = {};
  for (; i < n; ++i) {
    for (int j = 0; j < at_once; ++j) rest[j] += q[i] * k[j][i];
  }
  sums_of(sums, dots);
  for (int j = 0; j < at_once; ++j) dots[j] += rest[j];
}

}  // namespace

template <typename T>
REGARD_FOR_EACH_CPU void attend_heads(const HeadSizes& sizes, T scale, Heads<const T> q,
                                      Heads<const T> k, Heads<const T> v, T* weights, Heads<T> y) {
  const auto row = with_room_for_softmax(sizes.S);
  std::vector<T> alpha(static_cast<std::size_t>(sizes.T * row));
  for (std::int64_t b = 0; b < sizes.B; ++b) {
    const auto length = sizes.length(b);
    for (std::int64_t h = 0; h < sizes.H; ++h) {
      for (std::int64_t t = 0; t < sizes.T; ++t) {
        const T* query = q.at(b, t, h);
        T* e = alpha.data() + t * row;
        const auto end = sizes.causal ? std::min(t + 1, length) : length;
        for (std::int64_t s = 0; s < end; s += at_once) {
          // Beyond the end, the last key again; e has room for the products, and softmax ignores
          // them.
          const T* keys[at_once];
          for (int j = 0; j < at_once; ++j) keys[j] = k.at(b, std::min(s + j, end - 1), h);
          T dots[at_once];
          four_dots(sizes.width, query, keys, dots);
          for (int j = 0; j < at_once; ++j) e[s + j] = dots[j];
        }
        softmax_in_blocks(end, scale, e);
        std::fill(e + end, e + length, T(0));
        if (weights == nullptr) continue;
        std::fill(std::copy(e, e + length, weights), weights + sizes.S, T(0));
        weights += sizes.S;
      }
      weighted_sums(sizes.T, length, sizes.width, alpha.data(), row, v.at(b, 0, h), v.row,
                    y.at(b, 0, h), y.row);
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void rotate_rows(const RotationSizes& sizes, bool inverse, const T* x,
                                     const T* sines_and_cosines, T* y) {
  const T direction = inverse ? T(-1) : T(1);
  for (std::int64_t r = 0; r < sizes.rows; ++r, x += sizes.columns, y += sizes.columns) {
    const T* of_row = sines_and_cosines + r % sizes.angles * sizes.d;
    for (std::int64_t h = 0; h < sizes.width; h += sizes.d) {
#pragma omp simd
      for (std::int64_t i = 0; i < sizes.d; i += 2) {
        const T sin = direction * of_row[i], cos = of_row[i + 1];
        const T a = x[h + i], b = x[h + i + 1];
        y[h + i] = a * cos - b * sin;
        y[h + i + 1] = a * sin + b * cos;
      }
    }
    std::copy(x + sizes.width, x + sizes.columns, y + sizes.width);
  }
}

template <typename T>
std::vector<HeadLoops<T>> runnable_head_loops() {
  // Vectors of 16 bytes: every x86-64 and AArch64 processor has them.
  std::vector<HeadLoops<T>> runnable = {VectorHeadLoops<T, 16, 6>::loops};
#if defined(__x86_64__)
  const auto generation = cpu_level();
  if (generation >= CpuLevel::v3) runnable.insert(runnable.begin(), heads_v3<T>());
  if (generation >= CpuLevel::v4) runnable.insert(runnable.begin(), heads_v4<T>());
#endif
  return runnable;
}

#define REGARD_INSTANTIATE(T)                                                                     \
  template void attend_heads(const HeadSizes&, T, Heads<const T>, Heads<const T>, Heads<const T>, \
                             T*, Heads<T>);                                                       \
  template void rotate_rows(const RotationSizes&, bool, const T*, const T*, T*);                  \
  template std::vector<HeadLoops<T>> runnable_head_loops();
REGARD_INSTANTIATE(float)
REGARD_INSTANTIATE(double)

}  // namespace regard::kernels
