// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1) of independent heads of width
// d:
//
//   α_ts = softmax_s(q_t · k_s / sqrt(d) + bias_s)      y_t = Σ_s α_ts v_s
//
// Causal: query t sees positions s ≤ t only. The bias is 0 or −∞, the same for all queries of a
// sentence, and undefined for causal attention.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

// Rotary positions (Su et al. 2021, "RoFormer"): rotates each pair of numbers of a query or a key
// at position t by an angle proportional to t, so that q_t · k_s depends on t − s only:
//
//   y_2i = x_2i cos(t θ_i) − x_2i+1 sin(t θ_i)      y_2i+1 = x_2i sin(t θ_i) + x_2i+1 cos(t θ_i)
//
// with θ_i = 10000^(−2i/d). Rotates the first `width` columns of x [B, T, columns], heads of an
// even width d side by side, and copies the others. `rotation` has the type of x, and sin(t θ_i) at
// 2i and cos(t θ_i) at 2i + 1 of a row, for each of T positions or, if T is 1, for each sentence:
// [T, d] or [B, d]. Returns x if `rotation` is undefined. Differentiable in x. A row of y has the
// same bits in every batch on the CPU.
torch::Tensor rotate(const torch::Tensor& x, std::int64_t width, const torch::Tensor& rotation);
// The rotation on devices other than the CPU, or its inverse, which is its gradient: few operations
// of LibTorch, a product of complex numbers. `columns` must be even. Not differentiable.
torch::Tensor rotate_composite(const torch::Tensor& x, std::int64_t width,
                               const torch::Tensor& rotation, bool inverse);

// Splits the last dimension into heads: x [B, S, H · d] -> [B, H, S, d], a view.
inline torch::Tensor split_heads(const torch::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

// Returns y [B, T, D], the heads side by side, for q [B, T, D] and keys_and_values [B, S, 2D]: the
// keys of all heads, then their values. Differentiable. The padding of keys and values is given
// twice, or both are undefined if there is none: bias [B, 1, 1, S], and lengths [B], int64 on the
// CPU, from 1 to S. On the CPU, reads the real positions only, and a row of y has the same
// bits in every batch. On other devices, uses LibTorch's fused operation.
torch::Tensor scaled_dot_product(const torch::Tensor& q, const torch::Tensor& keys_and_values,
                                 std::int64_t heads, const torch::Tensor& bias,
                                 const torch::Tensor& lengths, bool causal);

// Returns the weights alone, by LibTorch's plain operations: α [B, H, T, S], exactly 0 where the
// bias is −∞.
torch::Tensor scaled_dot_product_weights(const torch::Tensor& q, const torch::Tensor& k,
                                         const torch::Tensor& bias, bool causal);

// The functions below are for a search on the CPU (mode.h). They read only the real positions of a
// sentence, so that the result has the same bits in every batch. Not differentiable. q [B, H, T,
// d], k and v [B, H, S, d] with contiguous last dimension, lengths [B] int64 on the CPU, or
// undefined if all are S.
struct HeadsAttended {
  torch::Tensor y;  // [B, T, H · d], the heads side by side
  // [B, H, T, S], exactly 0 at positions not attended to; undefined unless wanted
  torch::Tensor alpha;
};
// For few queries per sentence. A query has the same bits whatever the other queries are, so that
// causal attention of all steps of a target equals attention step by step.
HeadsAttended attend_heads(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                           const torch::Tensor& lengths, bool want_alpha, bool causal = false);
// Returns the mean over the heads: [B, H, T, S] -> [B, T, S], summed in the order of the heads.
torch::Tensor mean_over_heads(const torch::Tensor& alpha);

}  // namespace regard::kernels
