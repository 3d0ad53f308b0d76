#include "kernels/packed_weights.h"

#include <c10/core/GradMode.h>

#include "kernels/fused.h"

namespace regard::kernels {
namespace {

thread_local PackedWeights* in_use = nullptr;

}  // namespace

const PackedMatrix& PackedWeights::of(const torch::Tensor& W) {
  const Key key = {W.const_data_ptr(), W.size(0), W.size(1), W.stride(0), W.stride(1)};
  const std::scoped_lock lock(mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    found = entries_.emplace(key, Entry{W, PackedMatrix(W.detach())}).first;
  }
  return found->second.packed;
}

WithPackedWeights::WithPackedWeights(PackedWeights& weights) : before_(in_use) {
  in_use = &weights;
}

WithPackedWeights::~WithPackedWeights() {
  in_use = before_;
}

PackedWeights* packed_weights_for(const torch::Tensor& W) {
  return c10::GradMode::is_enabled() || !is_fused_on(W) ? nullptr : in_use;
}

bool is_batch_invariant(const torch::Tensor& x) {
  return packed_weights_for(x) != nullptr;
}

}  // namespace regard::kernels
