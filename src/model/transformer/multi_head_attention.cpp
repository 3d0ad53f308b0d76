#include "model/transformer/multi_head_attention.h"

#include <limits>

#include "kernels/packed_weights.h"

namespace regard {

Padding make_padding(const torch::Tensor& mask, const torch::Tensor& lengths,
                     const torch::Tensor& like, bool is_self_attention) {
  const bool is_known = lengths.is_cpu();  // else the device would have to be waited for
  if (is_known && lengths.min().item<std::int64_t>() == mask.size(1)) {
    return {{}, {}, is_self_attention};
  }
  // The operations of a search read only the lengths.
  if (kernels::is_batch_invariant(like)) return {{}, lengths.contiguous(), is_self_attention};
  const auto bias = torch::zeros(mask.sizes(), like.options())
                        .masked_fill_(mask.logical_not(), -std::numeric_limits<double>::infinity())
                        .view({mask.size(0), 1, 1, mask.size(1)});
  return {bias, lengths.contiguous(), is_self_attention};
}

HeadsOutput compute_heads(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                          const Padding& padding, bool causal, bool want_weights,
                          const Dropout& dropout) {
  if (kernels::is_batch_invariant(q)) {
    if (padding.is_self_attention && !causal) {
      // The values are those of an encoder whose weights are not wanted, bit by bit.
      const auto y = kernels::attend_to_itself(q, k, v, padding.lengths);
      if (!want_weights) return {y};
      const auto alpha = kernels::attend_heads(q, k, v, padding.lengths, true).alpha;
      return {y, kernels::mean_over_heads(alpha), alpha};
    }
    const auto [y, alpha] = kernels::attend_heads(q, k, v, padding.lengths, want_weights, causal);
    return {y, want_weights ? kernels::mean_over_heads(alpha) : alpha, alpha};
  }
  const auto alpha =
      kernels::scaled_dot_product_weights(q, k, padding.bias, causal);  // [B, H, T, S]
  const auto y = dropout.forward(alpha).matmul(v);                      // [B, H, T, d]
  const auto concatenated = y.transpose(1, 2).reshape({q.size(0), q.size(2), -1});
  if (!want_weights) return {concatenated};
  return {concatenated, alpha.mean(1), alpha};
}

MultiHeadAttention::MultiHeadAttention(std::int64_t D, std::int64_t C, std::int64_t heads,
                                       double dropout)
    : heads_(heads), dropout_(std::make_shared<Dropout>(dropout)) {
  W_Q_ = register_module("W_Q", Linear(D, D));
  W_KV_ = register_module("W_KV", Linear(C, 2 * D));
  W_O_ = register_module("W_O", Linear(D, D));
  register_module("dropout", dropout_);
}

torch::Tensor MultiHeadAttention::keys_and_values(const torch::Tensor& z,
                                                  const torch::Tensor& rotation) {
  return kernels::rotate(W_KV_(z), width(), rotation);
}

HeadsOutput MultiHeadAttention::forward(const torch::Tensor& x,
                                        const torch::Tensor& keys_and_values,
                                        const Padding& padding, bool causal, bool want_weights,
                                        const torch::Tensor& rotation) {
  const auto q = kernels::rotate(W_Q_(x), width(), rotation);
  const bool is_search = kernels::is_batch_invariant(q);
  if (!is_search && !want_weights && !dropout_->is_active()) {
    return {W_O_(kernels::scaled_dot_product(q, keys_and_values, heads_, padding.bias,
                                             padding.lengths, causal))};
  }
  const auto parts = keys_and_values.chunk(2, -1);  // keys and values, each [B, S, D]
  auto attended =
      compute_heads(split_heads(q, heads_), split_heads(parts[0], heads_),
                    split_heads(parts[1], heads_), padding, causal, want_weights, *dropout_);
  attended.y = W_O_(attended.y);
  return attended;
}

}  // namespace regard
