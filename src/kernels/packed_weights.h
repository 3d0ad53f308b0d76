// The weights of a model that translates, each packed once for all the products that it meets
// (packed_matrix.h): by a search's many steps with few rows, most of a product's time would go into
// arranging W for it.
#pragma once

#include <torch/types.h>

#include <map>
#include <mutex>
#include <tuple>

#include "kernels/packed_matrix.h"

namespace regard::kernels {

// For weights that do not change as long as it lives. Threads may share one.
class PackedWeights {
 public:
  // W [K, N], packed when it is first asked for.
  const PackedMatrix& of(const torch::Tensor& W);

 private:
  struct Entry {
    torch::Tensor W;  // so that nothing else comes to lie where it lies
    PackedMatrix packed;
  };
  // Where it lies, sizes and strides: a part of a weight is another one.
  using Key = std::tuple<const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

// While it lives, this thread's products with weights (linear.h) take them from `weights`.
class WithPackedWeights {
 public:
  explicit WithPackedWeights(PackedWeights& weights);
  ~WithPackedWeights();
  WithPackedWeights(const WithPackedWeights&) = delete;
  WithPackedWeights& operator=(const WithPackedWeights&) = delete;

 private:
  PackedWeights* before_;
};

// Those in use on this thread, for products that need no gradient; none for W on a device or of a
// type that packing is not written for.
PackedWeights* packed_weights_for(const torch::Tensor& W);

// True if results on x must not depend on what else is in the batch, to the bit: packed weights are
// in use on this thread, no gradient is wanted, and x is on the CPU. The operations of this folder
// then go row by row, each over a sentence's own positions. LibTorch's do not promise that: the
// order of their sums and the rounding of their functions depend on the sizes of the tensors.
bool is_batch_invariant(const torch::Tensor& x);

}  // namespace regard::kernels
