// The random numbers of everything outside Torch (shuffling, sub-word sampling, data generators).
//
// The same seed gives the same numbers on every machine and compiler, which <random>'s
// distributions do not promise. The state is four words.
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
  // An independent stream for the n-th use of a seed, e.g. the shuffle of epoch n.
  Random(std::uint64_t seed, std::uint64_t stream);

  std::uint64_t next();
  // Uniform in [0, bound), without the bias of a modulo. bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1), 53 bits.
  double uniform();

  // Fisher–Yates: every order equally likely.
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
