// The random numbers of a model in training. Each shard of each step uses a stream of its own, so
// that they do not depend on other threads, and a resumed run needs no generator state.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "base/random.h"

namespace regard {

// While an object lives, this thread draws from this stream.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream);
  ~RandomStream();
  RandomStream(const RandomStream&) = delete;
  RandomStream& operator=(const RandomStream&) = delete;

  static std::uint64_t draw();
  // [n], each uniform in [0, 1) in double precision.
  static torch::Tensor uniform(std::int64_t n, const torch::TensorOptions& options);

 private:
  Random before_;
};

}  // namespace regard
