// Products with a model's weights, differentiable and on any device. In a search with packed
// weights (WithPackedWeights), the result of a row has the same bits whatever the other rows are.
// While a DeferredWeightGradients object lives, the gradient of the weight is deferred.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

// x [..., K], W [N, K], b [N] or undefined -> x Wᵀ + b [..., N]
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& W, const torch::Tensor& b = {});

// x [..., K], W [K, N] -> x W [..., N]
torch::Tensor product(const torch::Tensor& x, const torch::Tensor& W);

// b [M, N], x [M, K], W [K, N] -> b + x W [M, N]
torch::Tensor add_product(const torch::Tensor& b, const torch::Tensor& x, const torch::Tensor& W);

// x [..., K], v [K] -> x · v [...]
torch::Tensor product_with_vector(const torch::Tensor& x, const torch::Tensor& v);

// G independent products: b [G, 1 or M, N], x [G, M, K], W [G, K, N] -> b + x W [G, M, N]
torch::Tensor linear_each(const torch::Tensor& b, const torch::Tensor& x, const torch::Tensor& W);

}  // namespace regard::kernels
