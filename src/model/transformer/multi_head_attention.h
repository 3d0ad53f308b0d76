// Multi-head attention (Vaswani et al. 2017, section 3.2.2), of queries to the positions of the
// same sequence or of another one:
//
//   head_i = softmax_s(q_i · k_is / √d) v_is      y_t = W_O [head_1; …; head_H] + b_O
//
// q = W_Q x_t + b_Q and [k_s; v_s] = W_KV z_s + b_KV, where q, k and v are split into H parts of
// width d = D / H. kernels/multi_head.h computes the heads. keys_and_values() is a separate
// function, so that a search keeps the keys and values of earlier steps and computes those of the
// source once per sentence. MultiHead (model/attention/multi_head.h) is the same for a recurrent
// decoder: one query per step, heads that share a width of their own, weights in every step.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "kernels/multi_head.h"
#include "model/layers.h"

namespace regard {

class MultiHeadAttention : public torch::nn::Module {
 public:
  // D is the width of queries and result, a multiple of `heads`; C is the width of the input z of
  // keys and values. Dropout is applied to the weights.
  MultiHeadAttention(std::int64_t D, std::int64_t C, std::int64_t heads, double dropout);

  std::int64_t width() const { return W_O_->weight.size(0); }  // D
  // Computes the keys and values of all heads: z [B, S, C] -> [B, S, 2D]. Rotates the keys by
  // `rotation`, unless it is undefined: [T, d] or [B, d], see kernels::rotate().
  torch::Tensor keys_and_values(const torch::Tensor& z, const torch::Tensor& rotation = {});
  // Maps x [B, T, D]. Returns y [B, T, D] after W_O and, if want_weights, the weights
  // (HeadsOutput). If causal, `padding` must be empty. Rotates the queries, unless `rotation` is
  // undefined: [T, d] or [B, d].
  kernels::HeadsOutput forward(const torch::Tensor& x, const torch::Tensor& keys_and_values,
                               const kernels::Padding& padding, bool causal, bool want_weights,
                               const torch::Tensor& rotation = {});

 private:
  std::int64_t heads_;
  Linear W_Q_{nullptr};   // [D, D]
  Linear W_KV_{nullptr};  // [2D, C]
  Linear W_O_{nullptr};   // [D, D]
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
