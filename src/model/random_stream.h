// The random numbers of a model in training, such as dropout masks. Each shard of each step has its
// own stream. So the numbers do not depend on other threads, and a resumed run needs no generator
// state.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "base/random.h"

namespace regard {

// While an object lives, draw() and uniform() on this thread take their numbers from this stream of
// `seed`. Objects may be nested. Without one, they take them from a stream with seed 0.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream);
  ~RandomStream();
  RandomStream(const RandomStream&) = delete;
  RandomStream& operator=(const RandomStream&) = delete;

  // Returns 64 random bits.
  static std::uint64_t draw();
  // Returns n numbers, uniform in [0, 1). They are drawn in double precision, so a conversion to
  // single precision can round them to 1.
  static torch::Tensor uniform(std::int64_t n, const torch::TensorOptions& options);

 private:
  Random previous_;  // restored by the destructor
};

}  // namespace regard
