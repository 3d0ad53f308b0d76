// Random numbers for code that does not use Torch: shuffling, sub-word sampling, data generators.
//
// The same seed produces the same numbers on every machine and compiler, unlike the distributions
// of <random>.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace regard {

// xoshiro256** (Blackman and Vigna 2021), seeded through splitmix64.
class Random {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Random(std::uint64_t seed);
  // Starts one of the independent streams of a seed: each epoch, for example, shuffles with its own
  // stream.
  Random(std::uint64_t seed, std::uint64_t stream);

  // Returns 64 random bits.
  std::uint64_t next();
  // Returns a uniform integer in [0, bound), without modulo bias. bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Returns a uniform number in [0, 1) with 53 random bits.
  double uniform();

  // Fisher–Yates shuffle.
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  State state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  State state_{};
};

}  // namespace regard
