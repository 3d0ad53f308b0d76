// The instructions of AVX-512, AVX512-BF16 and AVX512-VNNI that regard's products use, one lane
// after the other. It takes the place of the compiler's header for the sources of portable_*.cpp,
// so that the loops for these processors are tested on all others too.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

typedef float __m512 __attribute__((vector_size(64)));
typedef long long __m512i __attribute__((vector_size(64)));
typedef long long __m256i __attribute__((vector_size(32)));
typedef long long __m128i __attribute__((vector_size(16)));
typedef std::int16_t __m512bh __attribute__((vector_size(64)));
typedef std::int16_t __m256bh __attribute__((vector_size(32)));
typedef std::uint16_t __mmask16;

constexpr int _MM_HINT_T0 = 3;
inline void _mm_prefetch(const char*, int) {}

namespace portable {

typedef std::int32_t Int16 __attribute__((vector_size(64)));  // 16 lanes

inline std::int32_t lane(__m512i x, int i) {
  return reinterpret_cast<Int16>(x)[i];
}

// Rounds to the nearest bfloat16, to the even one of two; numbers below 2⁻¹²⁶ to 0.
inline std::int16_t to_bf16(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x)) return static_cast<std::int16_t>(bits >> 16 | 0x40);
  if ((bits & 0x7f800000) == 0) return static_cast<std::int16_t>((bits & 0x80000000) >> 16);
  return static_cast<std::int16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float from_bf16(std::uint16_t x) {
  const auto bits = static_cast<std::uint32_t>(x) << 16;
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// sum + Σ of the products of two pairs of bfloat16 numbers.
inline float dot_bf16(float sum, std::uint32_t a, std::uint32_t b) {
  const auto half = [](std::uint32_t x, int i) {
    return from_bf16(static_cast<std::uint16_t>(x >> (16 * i)));
  };
  return sum + half(a, 1) * half(b, 1) + half(a, 0) * half(b, 0);
}

// sum + Σ of the products of four unsigned with four signed bytes.
inline std::int32_t dot_bytes(std::int32_t sum, std::uint32_t a, std::uint32_t b) {
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<std::uint8_t>(a >> (8 * i)) * static_cast<std::int8_t>(b >> (8 * i));
  }
  return sum;
}

template <typename F>
inline __m512 each(const F& f) {
  __m512 y;
  for (int i = 0; i < 16; ++i) y[i] = f(i);
  return y;
}
template <typename F>
inline __m512i each_int(const F& f) {
  Int16 y;
  for (int i = 0; i < 16; ++i) y[i] = f(i);
  return reinterpret_cast<__m512i>(y);
}

}  // namespace portable

inline __m512 _mm512_setzero_ps() {
  return __m512{};
}
inline __m512i _mm512_setzero_si512() {
  return __m512i{};
}
inline __m512 _mm512_set1_ps(float x) {
  return portable::each([&](int) { return x; });
}
inline __m512i _mm512_set1_epi32(int x) {
  return portable::each_int([&](int) { return x; });
}
inline __m512 _mm512_load_ps(const float* from) {
  return portable::each([&](int i) { return from[i]; });
}
inline __m512i _mm512_load_si512(const void* from) {
  __m512i y;
  std::memcpy(&y, from, sizeof y);
  return y;
}
inline void _mm512_store_si512(void* to, __m512i x) {
  std::memcpy(to, &x, sizeof x);
}
inline __m512 _mm512_maskz_loadu_ps(__mmask16 mask, const float* from) {
  return portable::each([&](int i) { return mask >> i & 1 ? from[i] : 0.0F; });
}
inline void _mm512_mask_storeu_ps(float* to, __mmask16 mask, __m512 x) {
  for (int i = 0; i < 16; ++i) {
    if (mask >> i & 1) to[i] = x[i];
  }
}
inline __m512 _mm512_abs_ps(__m512 x) {
  return portable::each([&](int i) { return std::fabs(x[i]); });
}
inline __m512 _mm512_add_ps(__m512 a, __m512 b) {
  return a + b;
}
inline __m512 _mm512_mul_ps(__m512 a, __m512 b) {
  return a * b;
}
// The second operand where one is NaN, as the instruction.
inline __m512 _mm512_max_ps(__m512 a, __m512 b) {
  return portable::each([&](int i) { return a[i] > b[i] ? a[i] : b[i]; });
}
inline __m512 _mm512_fmadd_ps(__m512 a, __m512 b, __m512 c) {
  return portable::each([&](int i) { return std::fma(a[i], b[i], c[i]); });
}
inline float _mm512_reduce_add_ps(__m512 x) {
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += x[i];
  return sum;
}
inline float _mm512_reduce_max_ps(__m512 x) {
  float max = x[0];
  for (int i = 1; i < 16; ++i) max = x[i] > max ? x[i] : max;
  return max;
}
inline __m512 _mm512_cvtepi32_ps(__m512i x) {
  return portable::each([&](int i) { return static_cast<float>(portable::lane(x, i)); });
}
inline __m512i _mm512_cvtps_epi32(__m512 x) {
  return portable::each_int([&](int i) {  // what does not fit is INT_MIN
    return std::fabs(x[i]) < 2147483648.0F ? static_cast<std::int32_t>(std::nearbyint(x[i]))
                                           : INT32_MIN;
  });
}
inline __m128i _mm512_cvtsepi32_epi8(__m512i x) {
  std::int8_t bytes[16];
  for (int i = 0; i < 16; ++i) {
    const auto number = portable::lane(x, i);
    bytes[i] = static_cast<std::int8_t>(number < -128 ? -128 : number > 127 ? 127 : number);
  }
  __m128i y;
  std::memcpy(&y, bytes, sizeof y);
  return y;
}
inline __m512i _mm512_sub_epi32(__m512i a, __m512i b) {
  return portable::each_int([&](int i) { return portable::lane(a, i) - portable::lane(b, i); });
}
inline __m512i _mm512_or_si512(__m512i a, __m512i b) {
  return a | b;
}
inline __m512i _mm512_slli_epi32(__m512i x, int bits) {
  return portable::each_int([&](int i) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(portable::lane(x, i)) << bits);
  });
}
inline __m512i _mm512_cvtepu16_epi32(__m256i x) {
  std::uint16_t halves[16];
  std::memcpy(halves, &x, sizeof halves);
  return portable::each_int([&](int i) { return halves[i]; });
}

inline __m512bh _mm512_cvtne2ps_pbh(__m512 high, __m512 low) {
  __m512bh y;
  for (int i = 0; i < 16; ++i) {
    y[i] = portable::to_bf16(low[i]);
    y[16 + i] = portable::to_bf16(high[i]);
  }
  return y;
}
inline __m256bh _mm512_cvtneps_pbh(__m512 x) {
  __m256bh y;
  for (int i = 0; i < 16; ++i) y[i] = portable::to_bf16(x[i]);
  return y;
}
inline __m512 _mm512_dpbf16_ps(__m512 sum, __m512bh a, __m512bh b) {
  const auto left = reinterpret_cast<__m512i>(a), right = reinterpret_cast<__m512i>(b);
  return portable::each([&](int i) {
    return portable::dot_bf16(sum[i], static_cast<std::uint32_t>(portable::lane(left, i)),
                              static_cast<std::uint32_t>(portable::lane(right, i)));
  });
}
inline __m512i _mm512_dpbusd_epi32(__m512i sum, __m512i a, __m512i b) {
  return portable::each_int([&](int i) {
    return portable::dot_bytes(portable::lane(sum, i),
                               static_cast<std::uint32_t>(portable::lane(a, i)),
                               static_cast<std::uint32_t>(portable::lane(b, i)));
  });
}

inline __m128i _mm_set1_epi8(char x) {
  __m128i y;
  std::memset(&y, x, sizeof y);
  return y;
}
inline void _mm_store_si128(__m128i* to, __m128i x) {
  std::memcpy(to, &x, sizeof x);
}
inline __m128i _mm_xor_si128(__m128i a, __m128i b) {
  return a ^ b;
}
