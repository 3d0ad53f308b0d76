// A random permutation of 0 … n − 1 that is computed element by element, without a list in memory:
// an unbalanced Feistel network (Luby and Rackoff 1988) over the smallest power of two that is not
// less than n, with cycle walking (Black and Rogaway 2002), which skips the values from n on. The
// power is at least 1,024: smaller networks prefer some permutations.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/random.h"

namespace regard {

// Immutable, so threads can share it.
class Permutation {
 public:
  // The keys are the next numbers of `random`. 0 <= size < 2^62.
  Permutation(std::uint64_t size, Random random) : size_(size) {
    const int bits = std::max(min_bits, static_cast<int>(std::bit_width(size == 0 ? 0 : size - 1)));
    low_bits_ = bits / 2;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
    for (auto& key : keys_) key = random.next();
  }

  std::uint64_t size() const { return size_; }

  // Returns the element at position i < size(). A walk has less than two steps on average
  // if size() > 512.
  std::uint64_t operator()(std::uint64_t i) const {
    do {
      i = encrypt(i);
    } while (i >= size_);
    return i;
  }

 private:
  static constexpr int min_bits = 10;

  // A bijection on the numbers of `bits` bits: each round changes one half by the other.
  std::uint64_t encrypt(std::uint64_t i) const {
    std::uint64_t low = i & low_mask_;
    std::uint64_t high = i >> low_bits_;
    for (std::size_t round = 0; round < keys_.size(); round += 2) {
      high ^= mix(low ^ keys_[round]) & high_mask_;
      low ^= mix(high ^ keys_[round + 1]) & low_mask_;
    }
    return (high << low_bits_) | low;
  }

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 32);
  }

  std::uint64_t size_;
  int low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::array<std::uint64_t, 8> keys_{};
};

}  // namespace regard
