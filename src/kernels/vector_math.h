// exp, sigmoid and tanh in a form that compilers turn into vector instructions, for use in the
// loops of this folder only.
//
// Single precision: exp by reduction to |r| <= ln 2 / 2 and a polynomial of degree 7 (after Cephes'
// expf; relative error below 2e-7 between −87 and 88, and beyond these the value that it has there:
// never 0, 1.6e-38 of −∞, and never infinite), tanh and sigmoid through it with absolute errors
// below 2e-7.
// Double precision is the standard library's: it serves the tests, not speed.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// A function compiled for several generations of x86-64; the processor's is chosen when the program
// starts. What it inlines is compiled with it. ThreadSanitizer would be called by the function that
// chooses, which runs before the sanitizer is there.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define REGARD_FOR_EACH_CPU \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define REGARD_FOR_EACH_CPU
#endif
#define REGARD_INLINE inline __attribute__((always_inline))

namespace regard::kernels {

REGARD_INLINE float vector_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float round = 12582912.0f;  // 1.5 · 2^23: adding it rounds to a whole number
  const float n = (x * 1.44269504f + round) - round;
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

}  // namespace regard::kernels
