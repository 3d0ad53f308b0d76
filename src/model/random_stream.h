// The random numbers of a model in training, such as dropout masks. Each part of a shard of each
// step has its own stream. So the numbers do not depend on threads, and a resumed run needs no
// generator state.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "base/random.h"
#include "kernels/functions.h"

namespace regard {

// While an object lives, draw_dropout() and uniform() on this thread take their numbers from this
// stream of `seed`. Objects may be nested. Without one, they take them from a stream with seed 0.
class RandomStream {
 public:
  // If `keys` [K] int64 is defined, they are the first K draws of the stream, in the memory of a
  // device that captures the step.
  RandomStream(std::uint64_t seed, std::uint64_t stream, torch::Tensor keys = {});
  ~RandomStream();
  RandomStream(const RandomStream&) = delete;
  RandomStream& operator=(const RandomStream&) = delete;

  // Returns dropout with probability p and the next 64 random bits as its key. Throws
  // CannotBeCaptured after the last of the `keys`.
  static kernels::DrawnDropout draw_dropout(double p);
  // Returns n numbers, uniform in [0, 1). They are drawn in double precision, so a conversion to
  // single precision can round them to 1.
  static torch::Tensor uniform(std::int64_t n, const torch::TensorOptions& options);

 private:
  // Restored by the destructor:
  Random previous_;
  torch::Tensor previous_keys_;
};

}  // namespace regard
