#include "kernels/scaled_dot_product.h"

#include <cmath>
#include <limits>

#include "kernels/fused.h"

namespace regard::kernels {

using torch::Tensor;

Tensor scaled_dot_product(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias,
                          bool causal) {
  if (q.is_cpu() && !is_fused_on(q)) {
    return scaled_dot_product_weights(q, k, bias, causal).matmul(v);
  }
  const auto mask = bias.defined() ? std::optional(bias) : std::nullopt;
  return at::scaled_dot_product_attention(q, k, v, mask, /*dropout_p=*/0, causal);
}

Tensor scaled_dot_product_weights(const Tensor& q, const Tensor& k, const Tensor& bias,
                                  bool causal) {
  auto e = q.matmul(k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));  // [B, H, T, S]
  if (bias.defined()) e = e + bias;
  if (causal) {
    const auto later = torch::ones({q.size(2), k.size(2)}, q.options().dtype(torch::kBool)).triu(1);
    e = e.masked_fill(later, -std::numeric_limits<double>::infinity());
  }
  return e.softmax(-1);
}

}  // namespace regard::kernels
