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

}  // namespace regard::kernels
