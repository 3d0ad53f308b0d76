#include "kernels/linear.h"

#include "kernels/deferred_weight_gradients.h"
#include "kernels/packed_weights.h"

namespace regard::kernels {

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& W, const torch::Tensor& b) {
  auto* packed = packed_weights_for(W);
  if (packed == nullptr && !is_deferred(W)) return torch::linear(x, W, b);
  const auto rows = x.reshape({-1, x.size(-1)}).contiguous();  // [M, K]
  auto shape = x.sizes().vec();
  shape.back() = W.size(0);
  if (packed == nullptr) {
    const auto y = deferred_product(rows, W.t()).view(shape);
    return b.defined() ? y + b : y;
  }
  const auto y = b.defined() ? b.repeat({rows.size(0), 1})  // a copy: never write into the bias
                             : torch::empty({rows.size(0), W.size(0)}, x.options());
  packed->of(W.t()).multiply(rows, y, /*add=*/b.defined());
  return y.view(shape);
}

torch::Tensor product(const torch::Tensor& x, const torch::Tensor& W) {
  return packed_weights_for(W) == nullptr ? deferred_product(x, W) : kernels::linear(x, W.t());
}

torch::Tensor add_product(const torch::Tensor& b, const torch::Tensor& x, const torch::Tensor& W) {
  const bool plain = packed_weights_for(W) == nullptr && !is_deferred(W);
  return plain ? torch::addmm(b, x, W) : b + product(x, W);
}

torch::Tensor product_with_vector(const torch::Tensor& x, const torch::Tensor& v) {
  if (packed_weights_for(v) == nullptr) return x.matmul(v);
  return kernels::linear(x, v.unsqueeze(0)).squeeze(-1);
}

torch::Tensor linear_each(const torch::Tensor& b, const torch::Tensor& x, const torch::Tensor& W) {
  auto* packed = packed_weights_for(W);
  if (packed == nullptr)
    return is_deferred(W) ? b + deferred_product(x, W) : torch::baddbmm(b, x, W);
  const auto y = torch::empty({W.size(0), x.size(1), W.size(2)}, x.options());
  y.copy_(b);
  for (std::int64_t g = 0; g < W.size(0); ++g) {
    packed->of(W[g]).multiply(x[g].contiguous(), y[g], /*add=*/true);
  }
  return y;
}

}  // namespace regard::kernels
