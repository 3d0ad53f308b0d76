// Multi-head attention (Vaswani et al. 2017, section 3.2.2), to the same sequence or to another:
//
//   head_i = softmax_s(q_i · k_is / √d) v_is      y_t = W_O [head_1; …; head_H] + b_O
//
// attend_by_head() computes the heads, for the Transformer and for the attention of a recurrent
// decoder (model/attention/multi_head.h). MultiHeadAttention is the module of the Transformer:
// q = W_Q x_t + b_Q, [k_s; v_s] = W_KV z_s + b_KV, each split into H parts of width d = D / H. Keys
// and values are computed apart from the queries, so that decoding keeps those of earlier steps and
// computes those of the source once per sentence.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "model/layers.h"

namespace regard {

// x [B, S, H · d] -> [B, H, S, d], a view.
inline torch::Tensor by_head(const torch::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}

// Masks the padding of keys and values; computed once per batch. The bias may be undefined if there
// is no padding, the lengths too.
struct Padding {
  torch::Tensor bias = {};     // [B, 1, 1, S]: 0 at real positions, −∞ at padding
  torch::Tensor lengths = {};  // [B] int64 on the CPU: the number of real positions
  bool is_of_queries = false;  // self-attention: the queries have the same padding
};
// mask [B, S], lengths [B] on the CPU; the bias has the dtype and the device of `like`.
Padding padding_of(const torch::Tensor& mask, const torch::Tensor& lengths,
                   const torch::Tensor& like, bool is_of_queries = false);

struct HeadsOutput {
  torch::Tensor y;             // [B, T, H · d], the heads side by side
  torch::Tensor weights = {};  // [B, T, S], the mean over the heads; undefined unless wanted
  torch::Tensor heads = {};    // [B, H, T, S], the weights of each head; undefined unless wanted
};
// q [B, H, T, d], k and v [B, H, S, d]. causal: query t sees positions s ≤ t only. The dropout
// falls on the weights.
HeadsOutput attend_by_head(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                           const Padding& padding, bool causal, bool want_weights,
                           const Dropout& dropout);

class MultiHeadAttention : public torch::nn::Module {
 public:
  // D: width of queries and of the result, a multiple of `heads`; C: width of the vectors that keys
  // and values are computed from; dropout: on the weights.
  MultiHeadAttention(std::int64_t D, std::int64_t C, std::int64_t heads, double dropout);

  // Keys and values of all heads, side by side: z [B, S, C] -> [B, S, 2D].
  torch::Tensor keys_and_values(const torch::Tensor& z);
  // x [B, T, D] -> y [B, T, D], and the weights as attend_by_head().
  HeadsOutput forward(const torch::Tensor& x, const torch::Tensor& keys_and_values,
                      const Padding& padding, bool causal, bool want_weights);

 private:
  std::int64_t heads_;
  Linear W_Q_{nullptr};   // [D, D]
  Linear W_KV_{nullptr};  // [2D, C]
  Linear W_O_{nullptr};   // [D, D]
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
