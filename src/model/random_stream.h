// The random numbers of a model in training. Each shard of each step has its own stream. So the
// numbers do not depend on other threads, and a resumed run needs no generator state.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "base/random.h"

namespace regard {

// Makes the current thread draw from this stream while the object lives.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream);
  ~RandomStream();
  RandomStream(const RandomStream&) = delete;
  RandomStream& operator=(const RandomStream&) = delete;

  // Returns 64 random bits.
  static std::uint64_t draw();
  // Returns n numbers, uniform in [0, 1), drawn in double precision.
  static torch::Tensor uniform(std::int64_t n, const torch::TensorOptions& options);

 private:
  Random previous_;
};

}  // namespace regard
