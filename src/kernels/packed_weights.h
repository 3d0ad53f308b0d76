// Matrices packed once for many products (loops/products.h), and a cache of packed model weights.
//
// Packing a weight costs as much as multiplying it with several rows. The cache pays off because a
// search multiplies the same weights with few rows at every step, and because the threads of a
// training step share the packed weights.
#pragma once

#include <torch/types.h>

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/thread_pool.h"
#include "kernels/loops/products.h"

namespace regard::kernels {

class PackedMatrix {
 public:
  // Packs W [K, N], which is on the CPU, in single or double precision, with any strides. Uses
  // Precision::full if W is in double precision, if it has too few rows or columns for a lower
  // precision to be faster, or if it has too many rows for sums in int8.
  explicit PackedMatrix(const torch::Tensor& W, Precision precision = Precision::full);

  // Packs another matrix of the same sizes and type in place of this one.
  void repack(const torch::Tensor& W);

  // Computes y = x W, or y += x W if `add` is true. x [M, K] has contiguous rows or columns, y [M,
  // N] contiguous rows. The result of a row has the same bits whatever the other rows are.
  // Thread-safe.
  void multiply(const torch::Tensor& x, const torch::Tensor& y, bool add = false) const;
  // Computes y = x W + b. b [N] is contiguous or undefined, which means 0.
  void multiply_with_bias(const torch::Tensor& x, const torch::Tensor& b,
                          const torch::Tensor& y) const;

 private:
  // addend is b, y or undefined.
  void multiply_add(const torch::Tensor& x, const torch::Tensor& addend,
                    const torch::Tensor& y) const;

  std::int64_t K_, N_;
  Precision precision_;
  torch::ScalarType type_;
  torch::Tensor packed_;  // bytes
};

// Packs each weight at its first use. Thread-safe, except repack_all().
class PackedWeights {
 public:
  // `flat` is the buffer with all weights of a model in training, undefined in a search. If it is
  // not on the CPU, its weights are not packed: keeps a copy of it in bf16, for as_bf16().
  explicit PackedWeights(Precision precision = Precision::full, const torch::Tensor& flat = {});

  // Returns the packed form of W [K, N], valid until repack_all(). W must not change until then.
  const PackedMatrix& get_or_pack(const torch::Tensor& W);
  // True if W is a part of `flat`, whose memory is the same at every step, so that get_or_pack()
  // can find it by its address. A training step packs other matrices at each use.
  bool contains(const torch::Tensor& W) const;

  // Returns W in bf16: a view of the copy if there is one and it contains W, else converted.
  torch::Tensor as_bf16(const torch::Tensor& W) const;
  // Returns the weight W [..., K, N] of a search in bf16, converted at its first use.
  const torch::Tensor& get_or_convert(const torch::Tensor& W);

  // Packs and copies weights again after their values have changed, on all threads of the pool, and
  // forgets those that were not used since the last call: parts of a weight whose size depends on
  // the batch. Nothing else may use this object at the same time.
  void repack_all(ThreadPool& pool);

  Precision precision() const { return precision_; }

 private:
  struct Entry {
    torch::Tensor W;  // shares the memory of the weight, so that no other tensor gets its address
    PackedMatrix packed;
    bool is_used = true;  // since repack_all()
  };
  // Address, sizes and strides: a slice of a weight has an entry of its own.
  using Key = std::tuple<const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  Precision precision_;
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::map<Key, std::pair<torch::Tensor, torch::Tensor>> converted_;  // weights, and in bf16
  torch::Tensor flat_, flat_in_bf16_;
};

// x [M, K], W [K, N], or both with a dimension [G] in front -> x W by LibTorch, in single
// precision, of factors that are rounded to bf16 if they are not in bf16 already. Not
// differentiable.
torch::Tensor bf16_reference_product(const torch::Tensor& x, const torch::Tensor& W);
// The same, differentiable. x [..., K], W [K, N]; or x [G, M, K], W [G, K, N].
torch::Tensor bf16_product(const torch::Tensor& x, const torch::Tensor& W);

// Returns a b [M, N] of a [M, K] and b [K, N], in the precision of training products. Packs b. Not
// differentiable. LibTorch's products in bf16 also take factors in bf16.
torch::Tensor matrix_product(const torch::Tensor& a, const torch::Tensor& b);
// Computes y = a b, or y += a b if add. y has contiguous rows.
void matrix_product_into(const torch::Tensor& y, const torch::Tensor& a, const torch::Tensor& b,
                         bool add = false);
// Computes y = x W + b, in the precision of training products. A weight of the model is packed only
// once for all products of a training step. b [N] may be undefined.
void linear_into(const torch::Tensor& y, const torch::Tensor& x, const torch::Tensor& W,
                 const torch::Tensor& b = {});

}  // namespace regard::kernels
