#include "model/dropout.h"

#include <utility>

#include "kernels/dropout.h"

namespace regard {
namespace {

thread_local Random keys(0);

}  // namespace

DropoutStream::DropoutStream(std::uint64_t seed, std::uint64_t stream)
    : before_(std::exchange(keys, Random(seed, stream))) {}

DropoutStream::~DropoutStream() {
  keys = before_;
}

torch::Tensor Dropout::forward(const torch::Tensor& x) const {
  if (!is_training() || p_ == 0) return x;
  return kernels::dropout(x, p_, keys.next());
}

}  // namespace regard
