// Multi-head attention (Vaswani et al. 2017, section 3.2.2), of queries to the positions of the
// same sequence or of another one:
//
//   head_i = softmax_s(q_i · k_is / √d) v_is      y_t = W_O [head_1; …; head_H] + b_O
//
// compute_heads() computes the heads, for the Transformer and for multi-head attention of a
// recurrent decoder (model/attention/multi_head.h). MultiHeadAttention is the module of the
// Transformer: q = W_Q x_t + b_Q and [k_s; v_s] = W_KV z_s + b_KV, where q, k and v are split into
// H parts of width d = D / H. keys_and_values() is a separate function, so that a search keeps the
// keys and values of earlier steps and computes those of the source once per sentence.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "kernels/scaled_dot_product.h"
#include "model/layers.h"

namespace regard {

using kernels::split_heads;

// The padding mask of keys and values, computed once per batch. Bias and lengths are undefined if
// there is no padding, and the bias also in a search on the CPU, which does not need it.
struct Padding {
  torch::Tensor bias = {};         // [B, 1, 1, S]: 0 at real positions, −∞ at padding
  torch::Tensor lengths = {};      // [B] int64: the number of real positions
  bool is_self_attention = false;  // the queries are the same positions, with the same padding
};
// Returns the padding of mask [B, S] and lengths [B]. If they are not on the CPU, it has a bias
// even if there is no padding: the device would have to be waited for. The bias has the dtype and
// the device of `like`.
Padding make_padding(const torch::Tensor& mask, const torch::Tensor& lengths,
                     const torch::Tensor& like, bool is_self_attention = false);

struct HeadsOutput {
  torch::Tensor y;  // [B, T, H · d], the heads concatenated
  // The weights before dropout, undefined unless wanted:
  torch::Tensor weights = {};  // [B, T, S], the mean over the heads
  torch::Tensor heads = {};    // [B, H, T, S], the weights of each head
};
// Computes attention by head for q [B, H, T, d], k and v [B, H, S, d]. If `causal` is true, query t
// attends to positions s ≤ t only, and `padding` must be empty. Dropout is applied to the weights.
// For a search, and if weights are wanted or dropped out: otherwise, scaled_dot_product() in
// kernels/ is faster.
HeadsOutput compute_heads(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                          const Padding& padding, bool causal, bool want_weights,
                          const Dropout& dropout);

class MultiHeadAttention : public torch::nn::Module {
 public:
  // D is the width of queries and result, a multiple of `heads`; C is the width of the input z of
  // keys and values. Dropout is applied to the weights.
  MultiHeadAttention(std::int64_t D, std::int64_t C, std::int64_t heads, double dropout);

  std::int64_t width() const { return W_O_->weight.size(0); }  // D
  // Computes the keys and values of all heads: z [B, S, C] -> [B, S, 2D]. Rotates the keys by the
  // angles of their positions (kernels::rotate), unless `rotation` is undefined.
  torch::Tensor keys_and_values(const torch::Tensor& z, const torch::Tensor& rotation = {});
  // Maps x [B, T, D] to y [B, T, D]. Returns the weights as compute_heads() does. Rotates the
  // queries, unless `rotation` is undefined.
  HeadsOutput forward(const torch::Tensor& x, const torch::Tensor& keys_and_values,
                      const Padding& padding, bool causal, bool want_weights,
                      const torch::Tensor& rotation = {});

 private:
  std::int64_t heads_;
  Linear W_Q_{nullptr};   // [D, D]
  Linear W_KV_{nullptr};  // [2D, C]
  Linear W_O_{nullptr};   // [D, D]
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
