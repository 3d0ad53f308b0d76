// Matrices packed once for many products (product_rows.h), and a store of packed model weights.
//
// In a search, a model's weights are multiplied with few rows at a time. Packing a weight at every
// product would take most of the time.
#pragma once

#include <torch/types.h>

#include <map>
#include <mutex>
#include <tuple>

namespace regard::kernels {

class PackedMatrix {
 public:
  // W [K, N] on the CPU, in single or double precision, with any strides.
  explicit PackedMatrix(const torch::Tensor& W);

  // x [M, K] with contiguous rows or columns -> y [M, N] = x W, or y + x W if add; y has contiguous
  // rows. The result of a row has the same bits whatever the other rows are.
  void multiply(const torch::Tensor& x, const torch::Tensor& y, bool add = false) const;

 private:
  std::int64_t K_, N_;
  torch::Tensor packed_;
};

// Packs each weight at its first use. The weights must not change while this object lives.
// Thread-safe.
class PackedWeights {
 public:
  // The packed form of W [K, N].
  const PackedMatrix& of(const torch::Tensor& W);

 private:
  struct Entry {
    torch::Tensor W;  // keeps the memory of W from being reused
    PackedMatrix packed;
  };
  // Address, sizes and strides: a slice of a weight has an entry of its own.
  using Key = std::tuple<const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

// While an object lives, products with weights on this thread (linear.h) use `weights`.
class WithPackedWeights {
 public:
  explicit WithPackedWeights(PackedWeights& weights);
  ~WithPackedWeights();
  WithPackedWeights(const WithPackedWeights&) = delete;
  WithPackedWeights& operator=(const WithPackedWeights&) = delete;

 private:
  PackedWeights* before_;
};

// The packed weights in use on this thread. Null if a gradient is wanted, or if W is on a device or
// of a type without packed products.
PackedWeights* packed_weights_for(const torch::Tensor& W);

// True if results on x must have the same bits whatever else is in the batch: packed weights are in
// use on this thread, no gradient is wanted, and x is on the CPU. The operations of this folder
// then work row by row, each over the real positions of its sentence. LibTorch's operations do not
// guarantee this: the order of their sums and the rounding of their functions depend on the sizes
// of the tensors.
bool is_batch_invariant(const torch::Tensor& x);

}  // namespace regard::kernels
