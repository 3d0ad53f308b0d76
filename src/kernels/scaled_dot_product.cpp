#include "kernels/scaled_dot_product.h"

#include <cmath>
#include <limits>

#include "kernels/device.h"
#include "kernels/head_rows.h"
#include "kernels/product_rows.h"

namespace regard::kernels {

using torch::Tensor;

namespace {

// x [B, H, T, d]
template <typename T>
Heads<T> heads_of(const Tensor& x) {
  TORCH_CHECK(x.size(3) <= 1 || x.stride(3) == 1, "the last dimension of heads must be contiguous");
  if constexpr (std::is_const_v<T>) {
    return {x.const_data_ptr<std::remove_const_t<T>>(), x.stride(0), x.stride(2), x.stride(1)};
  } else {
    return {x.mutable_data_ptr<T>(), x.stride(0), x.stride(2), x.stride(1)};
  }
}

HeadSizes sizes_of(const Tensor& q, const Tensor& k, const Tensor& lengths) {
  return {.B = q.size(0),
          .H = q.size(1),
          .T = q.size(2),
          .S = k.size(2),
          .width = q.size(3),
          .lengths = lengths.defined() ? lengths.const_data_ptr<std::int64_t>() : nullptr};
}

double scale_of(const Tensor& q) {
  return 1 / std::sqrt(static_cast<double>(q.size(3)));
}

}  // namespace

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

HeadsAttended attend_heads(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& lengths,
                           bool want_alpha, bool causal) {
  const auto B = q.size(0), H = q.size(1), T = q.size(2), d = q.size(3);
  HeadsAttended attended;
  attended.y = torch::empty({B, T, H * d}, q.options());
  if (want_alpha) attended.alpha = torch::empty({B, H, T, k.size(2)}, q.options());
  const auto y = attended.y.view({B, T, H, d}).transpose(1, 2);
  auto sizes = sizes_of(q, k, lengths);
  sizes.causal = causal;
  AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "attend_heads", [&] {
    attend_heads<scalar_t>(sizes, static_cast<scalar_t>(scale_of(q)), heads_of<const scalar_t>(q),
                           heads_of<const scalar_t>(k), heads_of<const scalar_t>(v),
                           want_alpha ? attended.alpha.mutable_data_ptr<scalar_t>() : nullptr,
                           heads_of<scalar_t>(y));
  });
  return attended;
}

Tensor mean_over_heads(const Tensor& alpha) {
  auto sum = alpha.select(1, 0).clone(at::MemoryFormat::Contiguous);
  for (std::int64_t h = 1; h < alpha.size(1); ++h) sum.add_(alpha.select(1, h));
  return sum.div_(static_cast<double>(alpha.size(1)));
}

Tensor attend_to_itself(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& lengths) {
  const auto sizes = sizes_of(q, k, lengths);
  const auto [B, H, T, S, d, ends, causal] = sizes;
  const auto result = torch::zeros({B, T, H * d}, q.options());
  AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "attend_to_itself", [&] {
    using Number = scalar_t;
    const auto queries = heads_of<const Number>(q);
    const auto keys = heads_of<const Number>(k);
    const auto values = heads_of<const Number>(v);
    const auto y = heads_of<Number>(result.view({B, T, H, d}).transpose(1, 2));
    const auto& loops = fastest_product_loops<Number>();
    const auto packed_keys = torch::empty({loops.packed_bytes(d, S)}, torch::kByte);
    const auto packed_values = torch::empty({loops.packed_bytes(S, d)}, torch::kByte);
    const auto row = (S + 15) / 16 * 16;  // as softmax_of_scores() requires
    const auto scores = torch::empty({S, row}, q.options());
    auto* packed_k = packed_keys.mutable_data_ptr();
    auto* packed_v = packed_values.mutable_data_ptr();
    auto* e = scores.mutable_data_ptr<Number>();
    for (std::int64_t b = 0; b < B; ++b) {
      const auto n = sizes.length(b);
      for (std::int64_t h = 0; h < H; ++h) {
        loops.pack(d, n, {keys.at(b, 0, h), 1, keys.row}, packed_k);
        loops.multiply(n, d, n, {queries.at(b, 0, h), queries.row, 1}, packed_k, e, row,
                       /*add=*/false);
        softmax_of_scores<Number>(n, n, static_cast<Number>(scale_of(q)), e, row);
        loops.pack(n, d, {values.at(b, 0, h), values.row, 1}, packed_v);
        loops.multiply(n, n, d, {e, row, 1}, packed_v, y.at(b, 0, h), y.row, /*add=*/false);
      }
    }
  });
  return result;
}

}  // namespace regard::kernels
