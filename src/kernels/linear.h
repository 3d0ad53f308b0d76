// Products with a model's weights, differentiable and on any device. mode.h says how they are
// computed: in a search, the result of a row has the same bits whatever the other rows are, and in
// a time loop, the gradient of the weight is deferred.
#pragma once

#include <torch/types.h>

#include <memory>

#include "kernels/functions.h"

namespace regard::kernels {

// x [..., K], W [N, K], b [N] or undefined -> x Wᵀ + b [..., N]
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& W, const torch::Tensor& b = {});

// x [..., K], W [N, K], b [N] -> dropout(max(0, x Wᵀ + b)) [..., N]
torch::Tensor linear_relu(const torch::Tensor& x, const torch::Tensor& W, const torch::Tensor& b,
                          const DrawnDropout& dropout);

// x [..., K], W [K, N] -> x W [..., N]
torch::Tensor product(const torch::Tensor& x, const torch::Tensor& W);

// b [M, N], x [M, K], W [K, N] -> b + x W [M, N]
torch::Tensor add_product(const torch::Tensor& b, const torch::Tensor& x, const torch::Tensor& W);

// x [..., K], v [K] -> x · v [...]
torch::Tensor product_with_vector(const torch::Tensor& x, const torch::Tensor& v);

// G independent products: b [G, 1, N], x [G, M, K], W [G, K, N] -> b + x W [G, M, N]
torch::Tensor linear_each(const torch::Tensor& b, const torch::Tensor& x, const torch::Tensor& W);

// The input of a 3 × 3 convolution with stride 1, as rows of a matrix product:
//
//   y_{h,w} = Σ_{i,j = −1 … 1} W_{ij} x_{h+i, w+j} = W n_{h,w}
//   n_{h,w} = [x_{h−1,w−1}; x_{h−1,w}; x_{h−1,w+1}; x_{h,w−1}; … x_{h+1,w+1}]
//
// x is 0 beyond the edges. A convolution is then linear(neighbourhoods(x), W), which computes the
// same bits in every batch of a search. LibTorch's convolutions do not.
//
// x [B, H, W, C] -> n [B, H, W, 9 C]
torch::Tensor neighbourhoods(const torch::Tensor& x);

class PackedMatrix;

// Rows of a weight W [N, K] and of its bias b [N] as a weight of their own: x [M, K] -> the columns
// of x Wᵀ + b that `rows` [U] int64 names, [M, U]. Not differentiable.
class SelectedRows {
 public:
  SelectedRows(const torch::Tensor& W, const torch::Tensor& b, const torch::Tensor& rows);
  ~SelectedRows();
  SelectedRows(SelectedRows&&) noexcept;
  SelectedRows& operator=(SelectedRows&&) noexcept;

  // In the mode in which the object was created.
  torch::Tensor linear(const torch::Tensor& x) const;

 private:
  torch::Tensor W_, b_;
  std::unique_ptr<PackedMatrix> packed_;  // in a search on the CPU
};

}  // namespace regard::kernels
