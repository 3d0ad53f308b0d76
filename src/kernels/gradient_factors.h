// The gradients of weights as products over the rows of all shards of a batch.
//
//   dW = Σ_i x_iᵀ d_y_i        i: the shards of a batch and the uses of W
//
// If each thread computed its own dW, it would write a gradient of every weight, which would be
// read again to be added up: for large models, this takes longer than the update. Instead, the
// backward pass of a shard notes the factors. When all threads have done so, they divide the rows
// of each dW among them and write the products to their place in the gradient of the step.
//
// The terms of each element are added by shard, then in the order in which the shard noted them,
// so that the bits do not depend on timing. If different parts of a W were noted that share
// elements, one part is added after the other. For tensors in single precision on the CPU.
#pragma once

#include <torch/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/packed_weights.h"

namespace regard::kernels {

// The factors that one shard notes. Not thread-safe.
class GradientFactors {
 public:
  // `weights`: the buffer with all weights.
  explicit GradientFactors(torch::Tensor weights) : weights_(std::move(weights)) {}

  // Returns true if factors with M rows should be noted for W [K, N]: if W is a matrix of the
  // buffer, or a view of one, and they are not much larger than W.
  bool takes_product(const torch::Tensor& W, std::int64_t M) const;
  // Notes xᵀ d_y [K, N] as a part of the gradient of W, for x [M, K] and d_y [M, N]. The tensors
  // must not change until the sum. Requires takes_product() of W, or of a matrix that contains it.
  void add_product(const torch::Tensor& W, const torch::Tensor& x, const torch::Tensor& d_y);
  // Notes d_y [M, E] as parts of the gradients of the rows `rows` [M] of W [V, E]. Returns false
  // and notes nothing if W is not in the buffer.
  bool add_rows(const torch::Tensor& W, const torch::Tensor& rows, const torch::Tensor& d_y);

 private:
  friend class FactorSum;

  // A matrix with contiguous rows in the buffer.
  struct Place {
    std::int64_t offset;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t row_stride;
    auto operator<=>(const Place&) const = default;
  };
  struct Product {
    Place place;
    torch::Tensor left;   // [rows, M]
    torch::Tensor right;  // [M, columns], if it is not packed
    std::optional<PackedMatrix> packed_right;
  };
  struct Rows {
    Place place;
    torch::Tensor rows;
    torch::Tensor d_y;
  };

  bool contains(const torch::Tensor& W) const;
  Place place_of(const torch::Tensor& W) const;

  torch::Tensor weights_;
  std::vector<Product> products_;
  std::vector<Rows> rows_;
};

// The part of the gradient that belongs to one parameter.
struct GradientPart {
  std::int64_t begin;  // in the buffer
  std::int64_t size;
  bool is_wanted;
  bool has_value;  // false: the part is zero, its memory unset
};

// Adds what the shards have noted to `gradient`, a buffer with the layout of the weights. `parts`:
// all parameters, in ascending order. Sets has_value of those with a factor.
void add_up(std::span<GradientFactors> of_shards, const torch::Tensor& gradient,
            std::span<GradientPart> parts, ThreadPool& pool);

// Returns xᵀ d_y, the gradient of W [K, N] for x [M, K] and d_y [M, N]: in training on the CPU, as
// factors for the sum of all threads if the step gathers them, and then returns nothing.
torch::Tensor weight_gradient(const torch::Tensor& W, const torch::Tensor& x,
                              const torch::Tensor& d_y);

// Returns rows `ids` of W [V, E], of any shape -> [..., E].
torch::Tensor embedding(const torch::Tensor& W, const torch::Tensor& ids);

}  // namespace regard::kernels
