// Weighted sums of rows, for the loops of this folder only:
//
//   out_r = Σ_s a_rs x_s
//
// Each number is summed independently, over s in order, whatever the number of rows. Most of a row
// x_s is not read if its weights are all 0; its numbers must be finite.
#pragma once

#include <cstdint>

#include "kernels/loops/vector_math.h"

namespace regard::kernels {

// R rows of weights and `vectors` · 64 bytes of columns, with the sums in registers.
template <int R, int vectors, typename T>
REGARD_INLINE void weighted_tile(std::int64_t S, const T* a, std::int64_t a_row, const T* x,
                                 std::int64_t x_row, T* out, std::int64_t out_row) {
  constexpr int bytes = 64;
  constexpr int width = bytes / static_cast<int>(sizeof(T));
  typedef T Vector __attribute__((vector_size(bytes)));
  typedef T Unaligned __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  Vector sums[R][vectors];
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < vectors; ++c) sums[r][c] = Vector{};
  }
  for (std::int64_t s = 0; s < S; ++s, x += x_row) {
    bool all_zero = true;
    for (int r = 0; r < R; ++r) all_zero = all_zero && a[r * a_row + s] == 0;
    if (all_zero) continue;
#pragma GCC unroll 8
    for (int c = 0; c < vectors; ++c) {
      const Vector value = *reinterpret_cast<const Unaligned*>(x + c * width);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sums[r][c] += a[r * a_row + s] * value;
    }
  }
  for (int r = 0; r < R; ++r, out += out_row) {
    for (int c = 0; c < vectors; ++c) *reinterpret_cast<Unaligned*>(out + c * width) = sums[r][c];
  }
}

// R rows, all columns.
template <int R, typename T>
REGARD_INLINE void weighted_rows(std::int64_t S, std::int64_t n, const T* a, std::int64_t a_row,
                                 const T* x, std::int64_t x_row, T* out, std::int64_t out_row) {
  constexpr std::int64_t width = 64 / sizeof(T);
  constexpr int vectors = R == 1 ? 4 : 2;
  std::int64_t i = 0;
  for (; i + vectors * width <= n; i += vectors * width) {
    weighted_tile<R, vectors>(S, a, a_row, x + i, x_row, out + i, out_row);
  }
  for (; i + width <= n; i += width) {
    weighted_tile<R, 1>(S, a, a_row, x + i, x_row, out + i, out_row);
  }
  for (; i < n; ++i) {
    for (int r = 0; r < R; ++r) {
      T sum = 0;
      for (std::int64_t s = 0; s < S; ++s) sum += a[r * a_row + s] * x[s * x_row + i];
      out[r * out_row + i] = sum;
    }
  }
}

// a [G, S], x [S, n] -> out [G, n]. a_row, x_row and out_row are the distances between rows, in
// elements.
template <typename T>
REGARD_INLINE void weighted_sums(std::int64_t G, std::int64_t S, std::int64_t n, const T* a,
                                 std::int64_t a_row, const T* x, std::int64_t x_row, T* out,
                                 std::int64_t out_row) {
  constexpr std::int64_t at_once = 3;  // rows that share each load of x
  std::int64_t g = 0;
  for (; g + at_once <= G; g += at_once) {
    weighted_rows<at_once>(S, n, a + g * a_row, a_row, x, x_row, out + g * out_row, out_row);
  }
  for (; g < G; ++g) {
    weighted_rows<1>(S, n, a + g * a_row, a_row, x, x_row, out + g * out_row, out_row);
  }
}

}  // namespace regard::kernels
