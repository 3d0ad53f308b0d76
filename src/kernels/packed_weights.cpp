#include "kernels/packed_weights.h"

#include <c10/core/GradMode.h>

#include "kernels/device.h"
#include "kernels/product_rows.h"

namespace regard::kernels {
namespace {

thread_local PackedWeights* in_use = nullptr;

template <typename T>
MatrixView<const T> view(const torch::Tensor& matrix) {
  return {matrix.const_data_ptr<T>(), matrix.stride(0), matrix.stride(1)};
}

}  // namespace

PackedMatrix::PackedMatrix(const torch::Tensor& W) : K_(W.size(0)), N_(W.size(1)) {
  AT_DISPATCH_FLOATING_TYPES(W.scalar_type(), "pack", [&] {
    packed_ = torch::empty({packed_size<scalar_t>(K_, N_)}, W.options());
    pack_rows<scalar_t>(K_, N_, view<scalar_t>(W), packed_.mutable_data_ptr<scalar_t>());
  });
}

void PackedMatrix::multiply(const torch::Tensor& x, const torch::Tensor& y, bool add) const {
  TORCH_CHECK(x.size(1) == K_ && y.size(0) == x.size(0) && y.size(1) == N_ &&
                  (x.stride(1) == 1 || x.stride(0) == 1) && y.stride(1) == 1,
              "the shapes or strides do not fit the packed matrix");
  AT_DISPATCH_FLOATING_TYPES(packed_.scalar_type(), "multiply", [&] {
    multiply_rows<scalar_t>(x.size(0), K_, N_, view<scalar_t>(x),
                            packed_.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(),
                            y.stride(0), add);
  });
}

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
