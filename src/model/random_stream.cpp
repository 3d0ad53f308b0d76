#include "model/random_stream.h"

#include <utility>

#include "kernels/device.h"

namespace regard {
namespace {

thread_local Random random(0);
thread_local torch::Tensor keys_left;  // of a step that is captured

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream, torch::Tensor keys)
    : previous_(std::exchange(random, Random(seed, stream))),
      previous_keys_(std::exchange(keys_left, std::move(keys))) {}

RandomStream::~RandomStream() {
  random = previous_;
  keys_left = previous_keys_;
}

kernels::DrawnDropout RandomStream::draw_dropout(double p) {
  kernels::DrawnDropout dropout({.p = p, .key = random.next()});
  if (!keys_left.defined()) return dropout;
  if (keys_left.size(0) == 0) throw CannotBeCaptured("a step draws too many dropout masks");
  dropout.key_on_device = keys_left[0];
  keys_left = keys_left.slice(0, 1);
  return dropout;
}

torch::Tensor RandomStream::uniform(std::int64_t n, const torch::TensorOptions& options) {
  auto drawn = torch::empty({n}, torch::kDouble);
  for (std::int64_t i = 0; i < n; ++i) drawn.data_ptr<double>()[i] = random.uniform();
  return to_device(drawn.to(options.dtype()), options.device());
}

}  // namespace regard
