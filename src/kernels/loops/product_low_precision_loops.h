// The loops of loops/products.h for 16-bit and 8-bit factors, with AVX-512. Included only by
// loops/product_bf16.cpp and loops/product_int8.cpp. Must not call any function with external
// linkage (product_loops.h).
//
// A group is the factors along k that one instruction multiplies and sums in one 32-bit lane: 2
// factors of 16 bits, or 4 of 8 bits. W [K, N] is packed into panels of 64 columns. For each 2 or 4
// rows of W, a panel holds 64 lanes, one group per column; groups of zeros make it a whole number
// of tiles (amx_tiles.h). x is converted a few rows at a time into rows of groups. Sums have 32
// bits.
#pragma once

#include <immintrin.h>

#include "kernels/loops/products.h"
#include "kernels/loops/vector_math.h"

namespace regard::kernels {
namespace {

constexpr std::int64_t lanes = 16;   // of 32 bits in a vector
constexpr std::int64_t vectors = 4;  // in a panel
constexpr std::int64_t panel_columns = vectors * lanes;
constexpr std::int64_t tile_rows = 6;  // 6 · 4 sums, 4 vectors of W and 1 of x fit 32 registers
constexpr std::int64_t prefetch_distance = 12;  // groups

constexpr std::int64_t round_up(std::int64_t number, std::int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

// Returns the mask of the first `count` lanes: all of 16 or more, none of a number below 1.
inline __mmask16 first_lanes(std::int64_t count) {
  if (count <= 0) return 0;
  return count >= lanes ? __mmask16(0xffff) : static_cast<__mmask16>((1U << count) - 1);
}

// 16 lanes of 32 bits, for transpose(). Those of __m512i have 64 bits.
typedef std::int32_t Lanes __attribute__((vector_size(64)));

// Multiplies R rows of x with one panel. Each row has `length` groups; rows are `x_row` groups
// apart. `Number` defines the type of the sums and the dot-product instruction. Calls
// finish(r, sums) with the sums of each row r.
template <typename Number, int R, typename Finish>
[[gnu::always_inline]] inline void multiply_tile(std::int64_t length, const std::uint32_t* x,
                                                 std::int64_t x_row, const std::uint32_t* panel,
                                                 const Finish& finish) {
  typename Number::Sum sums[R][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sums[r][v] = Number::zero();
  }
  for (std::int64_t g = 0; g < length; ++g, panel += panel_columns) {
    __m512i w[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      w[v] = _mm512_load_si512(panel + v * lanes);
      _mm_prefetch(
          reinterpret_cast<const char*>(panel + prefetch_distance * panel_columns + v * lanes),
          _MM_HINT_T0);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const __m512i group = _mm512_set1_epi32(static_cast<int>(x[r * x_row + g]));
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = Number::dot(sums[r][v], group, w[v]);
    }
  }
  // finish() receives a copy: if the address of `sums` were taken, g++ 12 would keep them in memory
  // instead of registers, even during the loop.
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const typename Number::Sum row[vectors] = {sums[r][0], sums[r][1], sums[r][2], sums[r][3]};
    finish(r, row);
  }
}

// multiply_tile() for a number of rows from 1 to R known at run time.
template <typename Number, int R, typename Finish>
[[gnu::always_inline]] inline void multiply_last_tile(std::int64_t rows, std::int64_t length,
                                                      const std::uint32_t* x, std::int64_t x_row,
                                                      const std::uint32_t* panel,
                                                      const Finish& finish) {
  if constexpr (R > 1) {
    if (rows < R) {
      return multiply_last_tile<Number, R - 1>(rows, length, x, x_row, panel, finish);
    }
  }
  multiply_tile<Number, R>(length, x, x_row, panel, finish);
}

// Stores the result, plus the addend if it is not null, in y where the mask is set.
inline void store(float* y, __m512 result, __mmask16 mask, const float* addend) {
  if (addend) result = _mm512_add_ps(result, _mm512_maskz_loadu_ps(mask, addend));
  _mm512_mask_storeu_ps(y, mask, result);
}

}  // namespace
}  // namespace regard::kernels
