// Products of factors of 8 bits with sums of 32 bits. Compiled for x86-64-v4 with AVX512-VNNI
// (CMakeLists.txt).
//
//   y_rj = a_r b_j Σ_k x̂_rk ŵ_kj    x̂_rk = round(x_rk / a_r)    ŵ_kj = round(w_kj / b_j)
//   a_r = max_k |x_rk| / 127         b_j = max_k |w_kj| / 127
//
// If a row of x contains NaN or infinity, its results are NaN.
//
// The scale a_r of a row of x is computed at each product, the scale b_j of a column of W when W is
// packed. The instruction multiplies unsigned with signed numbers, so (x̂ + 128) is multiplied by ŵ,
// and 128 Σ_k ŵ_kj is subtracted from the sum. Sums of up to 60,000 products cannot overflow:
// 60,000 · 255 · 127 < 2³¹.
#include "kernels/product_low_precision_loops.h"

namespace regard::kernels {
namespace {

struct Int8 {
  using Sum = __m512i;
  static Sum zero() { return _mm512_setzero_si512(); }
  static Sum dot(Sum sum, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(sum, a, b); }
};

constexpr std::int64_t block = 48;  // rows of x converted at once: a whole number of tiles
constexpr float largest = 127;

// After the groups of each panel: b_j and 128 Σ_k ŵ_kj.
struct PanelScales {
  float scale[panel_columns];
  std::int32_t offset[panel_columns];
};
constexpr std::int64_t scale_words = sizeof(PanelScales) / 4;

constexpr std::int64_t groups_of(std::int64_t K) {
  return (K + 3) / 4;
}

std::int64_t packed_bytes(std::int64_t K, std::int64_t N) {
  const auto panels = (N + panel_columns - 1) / panel_columns;
  return panels * (groups_of(K) * panel_columns + scale_words) * 4;
}

// 16 numbers times `factor` -> 16 integers of 8 bits from -127 to 127.
inline __m128i to_bytes(__m512 numbers, __m512 factor) {
  return _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(numbers, factor)));
}

// Returns 1 / a_r or 1 / b_j, given the maximum: 0 for a row or column of zeros.
inline float factor_of(float max) {
  return max > 0 ? largest / max : 0.0F;
}

void pack_panel(std::int64_t K, std::int64_t columns, MatrixView<const float> W,
                std::uint32_t* to) {
  const auto groups = groups_of(K);
  auto& scales = *reinterpret_cast<PanelScales*>(to + groups * panel_columns);
  alignas(64) float max[panel_columns] = {};
  for (std::int64_t k = 0; k < K; ++k) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const float magnitude = __builtin_fabsf(W.data[k * W.row + c * W.column]);
      max[c] = max[c] < magnitude ? magnitude : max[c];
    }
  }
  alignas(64) float factors[panel_columns];
  for (std::int64_t c = 0; c < panel_columns; ++c) {
    scales.scale[c] = max[c] / largest;
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
        const auto rounded = static_cast<std::int8_t>(__builtin_rintf(w));
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

// Converts a row of x into groups of x̂ + 128 and returns its scale a_r. Numbers after the row's end
// are 0, so that they meet the zeros of the packed W.
float convert_row(std::int64_t K, const float* x, std::int64_t step, std::uint32_t* to) {
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
  auto* bytes = reinterpret_cast<std::uint8_t*>(to);
  for (std::int64_t k = 0; k < K; k += lanes) {
    const auto quantized = to_bytes(load(x + k * step, step, K - k), factor);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + k), _mm_xor_si128(quantized, offset));
  }
  return row_max / largest + _mm512_reduce_add_ps(zero);
}

// One panel times all converted rows.
void multiply_panel(std::int64_t rows, std::int64_t groups, std::int64_t row_groups,
                    const std::uint32_t* converted, const float* row_scales,
                    const std::uint32_t* panel, float* y, std::int64_t y_row, std::int64_t columns,
                    bool add) {
  const auto& scales = *reinterpret_cast<const PanelScales*>(panel + groups * panel_columns);
  for (std::int64_t i = 0; i < rows; i += tile_rows) {
    multiply_last_tile<Int8, tile_rows>(
        rows - i, groups, converted + i * row_groups, row_groups,
        panel, [&](std::int64_t r, const __m512i(&sums)[vectors]) __attribute__((always_inline)) {
          const auto row_scale = _mm512_set1_ps(row_scales[i + r]);
          for (int v = 0; v < vectors; ++v) {
            const auto left = columns - v * lanes;
            const auto sum =
                _mm512_sub_epi32(sums[v], _mm512_load_si512(scales.offset + v * lanes));
            const auto scale = _mm512_mul_ps(row_scale, _mm512_load_ps(scales.scale + v * lanes));
            store(y + (i + r) * y_row + v * lanes, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale),
                  left > 0 ? first_lanes(left) : 0, add);
          }
        });
  }
}

// The buffer of converted rows has a fixed size: long rows are converted a few at a time.
constexpr std::int64_t buffer_groups = 32768;

void multiply(std::int64_t M, std::int64_t K, std::int64_t N, MatrixView<const float> x,
              const void* packed, float* y, std::int64_t y_row, bool add) {
  alignas(64) std::uint32_t converted[buffer_groups];
  float row_scales[block];
  const auto groups = groups_of(K);
  const auto row_groups = (groups + lanes - 1) / lanes * lanes;
  auto most = buffer_groups / row_groups;
  most = most > block ? block : most;
  for (std::int64_t m = 0; m < M; m += most) {
    const auto rows = M - m < most ? M - m : most;
    for (std::int64_t r = 0; r < rows; ++r) {
      row_scales[r] =
          convert_row(K, x.data + (m + r) * x.row, x.column, converted + r * row_groups);
    }
    const auto* panel = static_cast<const std::uint32_t*>(packed);
    for (std::int64_t j = 0; j < N; j += panel_columns) {
      multiply_panel(rows, groups, row_groups, converted, row_scales, panel, y + m * y_row + j,
                     y_row, N - j, add);
      panel += groups * panel_columns + scale_words;
    }
  }
}

}  // namespace

ProductLoops<float> product_int8() {
  return {packed_bytes, pack, multiply};
}

}  // namespace regard::kernels
