// Products of factors rounded to bfloat16 (8 bits of exponent, 8 of precision) with sums in single
// precision, by AVX512-BF16 or AMX-BF16. Compiled for x86-64-v4 with AVX512-BF16 (CMakeLists.txt).
// The instructions read numbers below 2⁻¹²⁶ as 0.
#include "kernels/loops/amx_tiles.h"
#include "kernels/loops/product_low_precision_loops.h"

namespace regard::kernels {
namespace {

struct Bf16 {
  using Sum = __m512;
  static Sum zero() { return _mm512_setzero_ps(); }
  static Sum dot(Sum sum, __m512i a, __m512i b) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
};

constexpr std::int64_t run = 256;  // groups: a panel of them fits the second-level cache
// Rows of x converted at once: a whole number of tiles. AMX is faster with fewer, whose results
// stay in the first-level cache.
template <bool has_tiles>
constexpr std::int64_t block_rows = has_tiles ? 64 : 192;

// Memory is prefetched this many rows ahead: the processor does not foresee where the next row of a
// matrix begins, and a product with few columns would wait for it.
constexpr std::int64_t prefetch_rows = 8;
constexpr std::int64_t prefetch_squares = 4;  // of 16 columns, where columns are contiguous

inline void prefetch(const float* x) {
  _mm_prefetch(reinterpret_cast<const char*>(x), _MM_HINT_T0);
}

// 32 numbers in order -> 16 groups.
inline __m512i to_groups(__m512 first, __m512 second) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
}

// Returns the groups (a_i, b_i) in lane i.
inline __m512i to_pairs(__m512 a, __m512 b) {
  const auto low = _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(a)));
  const auto high = _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(b)));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

// Returns 16 groups of `count` consecutive numbers along k, which are `step` apart in memory; after
// the last number, 0.
inline __m512i load_line(const float* from, std::int64_t step, std::int64_t count) {
  if (count <= 0) return _mm512_setzero_si512();
  if (step == 1) {
    return to_groups(_mm512_maskz_loadu_ps(first_lanes(count), from),
                     _mm512_maskz_loadu_ps(first_lanes(count - lanes), from + lanes));
  }
  alignas(64) float numbers[2 * lanes];
  for (std::int64_t i = 0; i < 2 * lanes; ++i) numbers[i] = i < count ? from[i * step] : 0.0F;
  return to_groups(_mm512_load_ps(numbers), _mm512_load_ps(numbers + lanes));
}

// Returns the groups of rows k and k + 1 of W for up to 16 contiguous columns. `from` points to row
// k, and `row` is the distance of the rows; row k + 1 is 0 if it does not exist.
inline __m512i load_pairs(const float* from, std::int64_t row, bool has_second, __mmask16 mask) {
  const auto first = _mm512_maskz_loadu_ps(mask, from);
  const auto second = has_second ? _mm512_maskz_loadu_ps(mask, from + row) : _mm512_setzero_ps();
  return to_pairs(first, second);
}

// Groups of a panel: a whole number of tiles.
constexpr std::int64_t groups_of(std::int64_t K) {
  return round_up((K + 1) / 2, lanes);
}

std::int64_t packed_bytes(std::int64_t K, std::int64_t N) {
  return groups_of(K) * round_up(N, panel_columns) * 4;
}

// Packs the panel from column j of a W with contiguous rows.
inline void pack_rows(std::int64_t K, std::int64_t N, MatrixView<const float> W, std::int64_t j,
                      std::uint32_t* to) {
  const auto groups = groups_of(K);
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t c = 0; c < panel_columns; c += lanes) {
      const auto* from = W.data + 2 * g * W.row + j + c;
      prefetch(from + prefetch_rows * W.row);
      prefetch(from + (prefetch_rows + 1) * W.row);
      const auto pairs = 2 * g < K ? load_pairs(from, W.row, 2 * g + 1 < K, first_lanes(N - j - c))
                                   : _mm512_setzero_si512();
      _mm512_store_si512(to + g * panel_columns + c, pairs);
    }
  }
}

// Packs up to 16 columns of a W whose rows are not contiguous. `to` is their first lane in the
// first group of the panel.
void pack_columns(std::int64_t K, std::int64_t columns, MatrixView<const float> W,
                  std::uint32_t* to) {
  for (std::int64_t g = 0; g < groups_of(K); g += lanes) {
    Lanes square[lanes];
    for (std::int64_t c = 0; c < lanes; ++c) {
      const auto* from = W.data + 2 * g * W.row + c * W.column;
      prefetch(from + prefetch_squares * 2 * lanes);
      prefetch(from + (prefetch_squares * 2 + 1) * lanes);
      square[c] = c < columns ? Lanes(load_line(from, W.row, K - 2 * g)) : Lanes{};
    }
    transpose(square);
    for (std::int64_t i = 0; i < lanes; ++i) {
      _mm512_store_si512(to + (g + i) * panel_columns, __m512i(square[i]));
    }
  }
}

void pack(std::int64_t K, std::int64_t N, MatrixView<const float> W, void* packed) {
  auto* to = static_cast<std::uint32_t*>(packed);
  for (std::int64_t j = 0; j < N; j += panel_columns, to += groups_of(K) * panel_columns) {
    if (W.column == 1) {
      pack_rows(K, N, W, j, to);
      continue;
    }
    for (std::int64_t c = 0; c < panel_columns; c += lanes) {
      pack_columns(K, N - j - c, W.at(0, j + c), to + c);
    }
  }
}

// Converts rows of x, K numbers each, into groups: 16 groups from group g of row r are at
// (r · row + g · step).
void convert(std::int64_t rows, std::int64_t K, MatrixView<const float> x, std::uint32_t* to,
             std::int64_t row, std::int64_t step) {
  const auto groups = (K + 1) / 2;
  if (x.row != 1 || x.column == 1) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t g = 0; g < groups; g += lanes) {
        prefetch(x.data + (r + prefetch_rows) * x.row + 2 * g * x.column);
        prefetch(x.data + (r + prefetch_rows) * x.row + (2 * g + lanes) * x.column);
        _mm512_store_si512(to + r * row + g * step,
                           load_line(x.data + r * x.row + 2 * g * x.column, x.column, K - 2 * g));
      }
    }
    return;
  }
  // Columns of x are contiguous. 32 of them at a time, each from its first row to its last.
  for (std::int64_t g = 0; g < groups; g += lanes) {
    for (std::int64_t r = 0; r < rows; r += lanes) {
      const auto mask = first_lanes(rows - r);
      const auto here = rows - r < lanes ? rows - r : lanes;
      for (std::int64_t k = 2 * (g + lanes); k < 2 * (g + 2 * lanes); ++k) {
        prefetch(x.data + k * x.column + r);
      }
      Lanes square[lanes];
      for (std::int64_t i = 0; i < lanes; ++i) {
        const auto k = 2 * (g + i);
        square[i] = k < K ? Lanes(load_pairs(x.data + k * x.column + r, x.column, k + 1 < K, mask))
                          : Lanes{};
      }
      transpose(square);
      for (std::int64_t i = 0; i < here; ++i) {
        _mm512_store_si512(to + (r + i) * row + g * step, __m512i(square[i]));
      }
    }
  }
}

// `has_tiles`: by AMX; the thread has tiles of min(M, 16) rows.
template <bool has_tiles>
void multiply_add(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const float> x,
                  const void* packed, const float* addend, std::int64_t addend_row, float* y,
                  std::int64_t y_row) {
  constexpr auto block = block_rows<has_tiles>;
  alignas(64) std::uint32_t converted[block * run];
  constexpr auto row = has_tiles ? lanes : run;
  constexpr auto step = has_tiles ? block : 1;
  const auto groups = has_tiles ? groups_of(K) : (K + 1) / 2;
  for (std::int64_t m = 0; m < M; m += block) {
    const auto rows = M - m < block ? M - m : block;
    for (std::int64_t g = 0; g < groups; g += run) {
      const auto length = groups - g < run ? groups - g : run;
      convert(rows, K - 2 * g < 2 * run ? K - 2 * g : 2 * run, x.at(m, 2 * g), converted, row,
              step);
      if (has_tiles && M > lanes) clear_last_rows(rows, length / lanes, converted, block);
      const float* added = g > 0 ? y : addend;
      const auto added_row = g > 0 ? y_row : addend_row;
      for (std::int64_t j = 0; j < N; j += panel_columns) {
        const auto* panel =
            static_cast<const std::uint32_t*>(packed) + j * groups_of(K) + g * panel_columns;
        float* to = y + m * y_row + j;
        const float* from = added ? added + m * added_row + j : nullptr;
        const auto finish = [&](std::int64_t r, std::int64_t v, __m512 sum)
            __attribute__((always_inline)) {
          const auto left = N - j - v * lanes;
          store(to + r * y_row + v * lanes, sum, first_lanes(left),
                from ? from + r * added_row + v * lanes : nullptr);
        };
        if constexpr (has_tiles) {
          multiply_tiles<Bf16Tiles>(rows, length / lanes, converted, block * lanes, panel, N - j,
                                    finish);
        } else {
          for (std::int64_t i = 0; i < rows; i += tile_rows) {
            for (std::int64_t r = i; r < i + tile_rows && r < rows; ++r) {
              for (int v = 0; v < vectors; ++v) prefetch(to + r * y_row + v * lanes);
            }
            multiply_last_tile<Bf16, tile_rows>(
                rows - i, length, converted + i * run, run, panel,
                [&](std::int64_t r, const __m512(&sums)[vectors]) __attribute__((always_inline)) {
                  for (int v = 0; v < vectors; ++v) finish(i + r, v, sums[v]);
                });
          }
        }
      }
    }
  }
}

void multiply_add_amx(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const float> x,
                      const void* packed, const float* addend, std::int64_t addend_row, float* y,
                      std::int64_t y_row) {
  const Tiles tiles(M);
  multiply_add<true>(M, K, N, x, packed, addend, addend_row, y, y_row);
}

}  // namespace

ProductLoops<float> product_bf16() {
  return {packed_bytes, pack, multiply_add<false>};
}

ProductLoops<float> product_bf16_amx() {
  return {packed_bytes, pack, multiply_add_amx};
}

}  // namespace regard::kernels
