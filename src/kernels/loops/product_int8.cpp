// Products of factors of 8 bits with sums of 32 bits, by AVX512-VNNI or AMX-INT8. Compiled for
// x86-64-v4 with AVX512-VNNI (CMakeLists.txt).
//
//   y_rj = a_r b_j Σ_k x̂_rk ŵ_kj    x̂_rk = round(x_rk / a_r)    ŵ_kj = round(w_kj / b_j)
//   a_r = max_k |x_rk| / 127         b_j = max_k |w_kj| / 127
//
// If a row of x or a column of W contains NaN or infinity, its results are NaN. A maximum below
// 1e-36 counts as 0: 127 / max could be infinite.
//
// The scale a_r of a row of x is computed at each product, the scale b_j of a column of W when W is
// packed. The instruction multiplies unsigned with signed numbers, so (x̂ + 128) is multiplied by ŵ,
// and 128 Σ_k ŵ_kj is subtracted from the sum. Sums of up to 60,000 products cannot overflow:
// 60,000 · 255 · 127 < 2³¹.
#include "kernels/loops/amx_tiles.h"
#include "kernels/loops/product_low_precision_loops.h"

namespace regard::kernels {
namespace {

struct Int8 {
  using Sum = __m512i;
  static Sum zero() { return _mm512_setzero_si512(); }
  static Sum dot(Sum sum, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(sum, a, b); }
};

// Rows of x converted at once: a whole number of tiles.
template <bool has_tiles>
constexpr std::int64_t block_rows = has_tiles ? 64 : 48;
constexpr float largest = 127;

// After the groups of each panel: b_j and 128 Σ_k ŵ_kj.
struct PanelScales {
  float scale[panel_columns];
  std::int32_t offset[panel_columns];
};
constexpr std::int64_t scale_words = sizeof(PanelScales) / 4;

// Groups of a panel: a whole number of tiles.
constexpr std::int64_t groups_of(std::int64_t K) {
  return round_up((K + 3) / 4, lanes);
}

std::int64_t packed_bytes(std::int64_t K, std::int64_t N) {
  const auto panels = (N + panel_columns - 1) / panel_columns;
  return panels * (groups_of(K) * panel_columns + scale_words) * 4;
}

// 16 numbers times `factor` -> 16 integers of 8 bits from -127 to 127.
inline __m128i to_bytes(__m512 numbers, __m512 factor) {
  return _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(numbers, factor)));
}

// Returns 1 / a_r or 1 / b_j, given the maximum: 0 for a row or column of numbers below 1e-36.
inline float factor_of(float max) {
  return max > 1e-36F ? largest / max : 0.0F;
}

void pack_panel(std::int64_t K, std::int64_t columns, MatrixView<const float> W,
                std::uint32_t* to) {
  const auto groups = groups_of(K);
  auto& scales = *reinterpret_cast<PanelScales*>(to + groups * panel_columns);
  alignas(64) float max[panel_columns] = {};
  alignas(64) float zero[panel_columns] = {};  // NaN if a number is NaN or infinite, as for x
  for (std::int64_t k = 0; k < K; ++k) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const float magnitude = __builtin_fabsf(W.data[k * W.row + c * W.column]);
      max[c] = max[c] < magnitude ? magnitude : max[c];
      zero[c] += 0.0F * magnitude;
    }
  }
  alignas(64) float factors[panel_columns];
  for (std::int64_t c = 0; c < panel_columns; ++c) {
    scales.scale[c] = max[c] / largest + zero[c];
    scales.offset[c] = 0;
    factors[c] = factor_of(max[c]);
  }
  for (std::int64_t g = 0; g < groups; ++g) {
    auto* bytes = reinterpret_cast<std::int8_t*>(to + g * panel_columns);
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto k = 4 * g + i;
      for (std::int64_t c = 0; c < panel_columns; ++c) {
        const bool is_inside = k < K && c < columns;
        const float w = is_inside ? W.data[k * W.row + c * W.column] * factors[c] : 0.0F;
        const bool is_finite = __builtin_fabsf(w) < 128;
        const auto rounded = static_cast<std::int8_t>(is_finite ? __builtin_rintf(w) : 0.0F);
        bytes[4 * c + i] = rounded;
        scales.offset[c] += 128 * rounded;
      }
    }
  }
}

void pack(std::int64_t K, std::int64_t N, MatrixView<const float> W, void* packed) {
  auto* to = static_cast<std::uint32_t*>(packed);
  for (std::int64_t j = 0; j < N; j += panel_columns) {
    pack_panel(K, N - j < panel_columns ? N - j : panel_columns, W.at(0, j), to);
    to += groups_of(K) * panel_columns + scale_words;
  }
}

// Returns up to 16 numbers that are `step` apart in memory; after `count` numbers, 0.
inline __m512 load(const float* from, std::int64_t step, std::int64_t count) {
  if (step == 1) return _mm512_maskz_loadu_ps(first_lanes(count), from);
  alignas(64) float numbers[lanes];
  for (std::int64_t i = 0; i < lanes; ++i) numbers[i] = i < count ? from[i * step] : 0.0F;
  return _mm512_load_ps(numbers);
}

// Converts a row of x, whose numbers are `step` apart, into groups of x̂ + 128 and returns its scale
// a_r. Each 16 groups are next_groups after the 16 before. Numbers after the row's end meet the
// zeros of the packed W.
float convert_row(std::int64_t K, const float* x, std::int64_t step, std::uint32_t* to,
                  std::int64_t next_groups) {
  __m512 max = _mm512_setzero_ps();
  // Σ_k 0 · x_k: NaN if a number is NaN or infinite, otherwise 0. max_ps ignores NaN.
  __m512 zero = _mm512_setzero_ps();
  for (std::int64_t k = 0; k < K; k += lanes) {
    const auto numbers = load(x + k * step, step, K - k);
    max = _mm512_max_ps(_mm512_abs_ps(numbers), max);
    zero = _mm512_fmadd_ps(numbers, _mm512_setzero_ps(), zero);
  }
  const float row_max = _mm512_reduce_max_ps(max);
  const auto factor = _mm512_set1_ps(factor_of(row_max));
  const auto offset = _mm_set1_epi8(static_cast<char>(0x80));
  for (std::int64_t k = 0; k < K; k += lanes) {
    const auto quantized = to_bytes(load(x + k * step, step, K - k), factor);
    auto* groups = to + k / (4 * lanes) * next_groups + k % (4 * lanes) / 4;
    _mm_store_si128(reinterpret_cast<__m128i*>(groups), _mm_xor_si128(quantized, offset));
  }
  return row_max / largest + _mm512_reduce_add_ps(zero);
}

// The sums of one panel with all converted rows, scaled, plus the addend if it is not null.
struct PanelResult {
  const PanelScales& scales;
  const float* row_scales;
  const float* addend;
  std::int64_t addend_row;
  float* y;
  std::int64_t y_row;
  std::int64_t columns;

  // Stores the sums of row r from column 16 v.
  [[gnu::always_inline]] void store_sums(std::int64_t r, std::int64_t v, __m512i sums) const {
    const auto left = columns - v * lanes;
    const auto sum = _mm512_sub_epi32(sums, _mm512_load_si512(scales.offset + v * lanes));
    const auto scale =
        _mm512_mul_ps(_mm512_set1_ps(row_scales[r]), _mm512_load_ps(scales.scale + v * lanes));
    store(y + r * y_row + v * lanes, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale),
          first_lanes(left), addend ? addend + r * addend_row + v * lanes : nullptr);
  }
};

// The buffer of converted rows has a fixed size: long rows are converted a few at a time.
constexpr std::int64_t buffer_groups = 32768;

// `has_tiles`: by AMX; the thread has tiles of min(M, 16) rows, and 16 rows fit the buffer.
template <bool has_tiles>
void multiply_add(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const float> x,
                  const void* packed, const float* addend, std::int64_t addend_row, float* y,
                  std::int64_t y_row) {
  constexpr auto block = block_rows<has_tiles>;
  alignas(64) std::uint32_t converted[buffer_groups];
  float row_scales[block];
  const auto groups = groups_of(K);
  auto most = buffer_groups / groups;
  most = most > block ? block : most;
  if (has_tiles) most = most / lanes * lanes;
  const auto row = has_tiles ? lanes : groups;
  const auto next_groups = has_tiles ? most * lanes : lanes;
  for (std::int64_t m = 0; m < M; m += most) {
    const auto rows = M - m < most ? M - m : most;
    for (std::int64_t r = 0; r < rows; ++r) {
      row_scales[r] =
          convert_row(K, x.data + (m + r) * x.row, x.column, converted + r * row, next_groups);
    }
    if (has_tiles && M > lanes) clear_last_rows(rows, groups / lanes, converted, most);
    const auto* panel = static_cast<const std::uint32_t*>(packed);
    for (std::int64_t j = 0; j < N; j += panel_columns) {
      const PanelResult result = {
          *reinterpret_cast<const PanelScales*>(panel + groups * panel_columns),
          row_scales,
          addend ? addend + m * addend_row + j : nullptr,
          addend_row,
          y + m * y_row + j,
          y_row,
          N - j};
      if constexpr (has_tiles) {
        multiply_tiles<Int8Tiles>(
            rows, groups / lanes, converted, next_groups, panel, N - j,
            [&](std::int64_t r, std::int64_t v, __m512i sums) { result.store_sums(r, v, sums); });
      } else {
        for (std::int64_t i = 0; i < rows; i += tile_rows) {
          multiply_last_tile<Int8, tile_rows>(
              rows - i, (K + 3) / 4, converted + i * row, row, panel,
              [&](std::int64_t r, const __m512i(&sums)[vectors]) __attribute__((always_inline)) {
                for (int v = 0; v < vectors; ++v) result.store_sums(i + r, v, sums[v]);
              });
        }
      }
      panel += groups * panel_columns + scale_words;
    }
  }
}

void multiply_add_amx(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const float> x,
                      const void* packed, const float* addend, std::int64_t addend_row, float* y,
                      std::int64_t y_row) {
  if (groups_of(K) * lanes > buffer_groups) {
    return multiply_add<false>(M, K, N, x, packed, addend, addend_row, y, y_row);
  }
  const Tiles tiles(M);
  multiply_add<true>(M, K, N, x, packed, addend, addend_row, y, y_row);
}

}  // namespace

ProductLoops<float> product_int8() {
  return {packed_bytes, pack, multiply_add<false>};
}

ProductLoops<float> product_int8_amx() {
  return {packed_bytes, pack, multiply_add_amx};
}

}  // namespace regard::kernels
