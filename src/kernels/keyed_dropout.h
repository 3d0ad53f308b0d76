// Dropout (Srivastava et al. 2014) whose mask is a function of a key, so that it is not stored:
//
//   y_i = x_i · keep_i / (1 − p)      keep_i = [hash(key, i) ≥ p · 2³²]
//
// i is the index of an element in row-major order, modulo 2³².
#pragma once

#include <cstdint>

namespace regard::kernels {

// Dropout with probability p and the mask of this key. If p is 0, no dropout. p < 1.
struct KeyedDropout {
  double p = 0;
  std::uint64_t key = 0;
};

// Computes the mask, for the loops of this folder.
class DropoutMask {
 public:
  constexpr explicit DropoutMask(const KeyedDropout& dropout)
      : threshold_(static_cast<std::uint32_t>(dropout.p * 4294967296.0)) {
    auto key = dropout.key;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;  // splitmix64: spreads similar keys
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    low_ = static_cast<std::uint32_t>(key);
    high_ = static_cast<std::uint32_t>(key >> 32);
  }

  // Returns keep_i.
  [[gnu::always_inline]] constexpr bool keeps(std::int64_t i) const {
    // The finaliser of MurmurHash3 (Appleby), once with each half of the key.
    std::uint32_t h = static_cast<std::uint32_t>(i) * 0x9E3779B1u + low_;
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    h = (h ^ (h >> 16) ^ high_) * 0x85EBCA6Bu;
    h ^= h >> 15;
    return h >= threshold_;
  }

 private:
  std::uint32_t threshold_;
  std::uint32_t low_;
  std::uint32_t high_;
};

}  // namespace regard::kernels
