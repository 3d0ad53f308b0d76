// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1), each head by itself:
//
//   α_ts = softmax_s(q_t · k_s / sqrt(d) + bias_s)      y_t = sum_s α_ts v_s
//
// Causal: position t sees s ≤ t alone. The bias is 0 or −∞, the same for all queries of a sentence;
// a causal attention takes none.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

// q [B, H, T, d], k and v [B, H, S, d], bias [B, 1, 1, S] or undefined -> [B, H, T, d]. LibTorch's
// fused operation, which keeps no weights; or, where composites are wanted (fused.h), the plain
// one.
torch::Tensor scaled_dot_product(const torch::Tensor& q, const torch::Tensor& k,
                                 const torch::Tensor& v, const torch::Tensor& bias, bool causal);

// The weights alone, from LibTorch's plain operations: alpha [B, H, T, S], exactly 0 where the bias
// is −∞.
torch::Tensor scaled_dot_product_weights(const torch::Tensor& q, const torch::Tensor& k,
                                         const torch::Tensor& bias, bool causal);

// The same in a search on the CPU (is_batch_invariant in packed_weights.h), without gradient: over
// a sentence's own positions, whatever stands behind them, so that the result is the same to the
// bit in every batch. q [B, H, T, d], k and v [B, H, S, d], of any strides but the last, lengths
// [B] int64 on the CPU, or undefined for S.
struct HeadsAttended {
  torch::Tensor y;      // [B, T, H · d], the heads side by side
  torch::Tensor alpha;  // [B, H, T, S], exactly 0 beyond the end; undefined if not wanted
};
// Few queries to each sentence.
HeadsAttended attend_heads(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                           const torch::Tensor& lengths, bool want_alpha);
// [B, H, T, S] -> [B, T, S], each number summed in the order of the heads.
torch::Tensor mean_over_heads(const torch::Tensor& alpha);
// As many queries as positions, padded alike: y is 0 beyond the end. The products are packed ones
// (packed_matrix.h). There is no α.
torch::Tensor attend_to_itself(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const torch::Tensor& lengths);

}  // namespace regard::kernels
