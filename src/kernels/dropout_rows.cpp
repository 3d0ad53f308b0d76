#include "kernels/dropout_rows.h"

#include "kernels/vector_math.h"

namespace regard::kernels {

template <typename T>
REGARD_FOR_EACH_CPU void dropout_rows(std::int64_t n, const T* x, double p, std::uint64_t key,
                                      T* y) {
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;  // splitmix64: spreads similar keys
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
  const auto low = static_cast<std::uint32_t>(key);
  const auto high = static_cast<std::uint32_t>(key >> 32);
  const auto threshold = static_cast<std::uint32_t>(p * 4294967296.0);
  const T factor = static_cast<T>(1 / (1 - p));
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    // The finaliser of MurmurHash3 (Appleby), once with each half of the key.
    std::uint32_t h = static_cast<std::uint32_t>(i) * 0x9E3779B1u + low;
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    h = (h ^ (h >> 16) ^ high) * 0x85EBCA6Bu;
    h ^= h >> 15;
    y[i] = h < threshold ? T(0) : x[i] * factor;
  }
}

template void dropout_rows(std::int64_t, const float*, double, std::uint64_t, float*);
template void dropout_rows(std::int64_t, const double*, double, std::uint64_t, double*);

}  // namespace regard::kernels
