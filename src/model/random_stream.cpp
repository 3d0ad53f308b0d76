#include "model/random_stream.h"

#include <utility>

#include "kernels/device.h"

namespace regard {
namespace {

thread_local Random random(0);

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream)
    : previous_(std::exchange(random, Random(seed, stream))) {}

RandomStream::~RandomStream() {
  random = previous_;
}

std::uint64_t RandomStream::draw() {
  return random.next();
}

torch::Tensor RandomStream::uniform(std::int64_t n, const torch::TensorOptions& options) {
  auto drawn = torch::empty({n}, torch::kDouble);
  for (std::int64_t i = 0; i < n; ++i) drawn.data_ptr<double>()[i] = random.uniform();
  return to_device(drawn.to(options.dtype()), options.device());
}

}  // namespace regard
