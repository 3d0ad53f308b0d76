// Multi-head attention (Vaswani et al. 2017, section 3.2.2), to the same sequence or to another:
//
//   head_i = softmax_s(q_i · k_is / √d) v_is      y_t = W_O [head_1; …; head_H] + b_O
//
// q = W_Q x_t + b_Q, [k_s; v_s] = W_KV z_s + b_KV, each in H parts. Each head is d = D / H wide.
// Keys and values are made apart from the queries, so that decoding keeps those of the steps
// before, and makes those of the source once a sentence.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "model/dropout.h"
#include "model/linear.h"

namespace regard {

struct Attended {
  torch::Tensor y;        // [B, T, D]
  torch::Tensor weights;  // [B, T, S], the mean over the heads; undefined where not wanted
  torch::Tensor heads;    // [B, H, T, S], where weights are
};

// What keeps attention off padding, made once a batch. Undefined tensors: there is no padding.
struct Padding {
  torch::Tensor bias = {};     // [B, 1, 1, S]: 0 at real positions, −∞ at padding
  torch::Tensor lengths = {};  // [B] int64 on the CPU: the real positions of each
  bool is_of_queries = false;  // the queries are the positions themselves, padded alike
};
// mask [B, S], lengths [B] on the CPU; `like` has the type.
Padding padding_of(const torch::Tensor& mask, const torch::Tensor& lengths,
                   const torch::Tensor& like, bool is_of_queries = false);

class MultiHeadAttention : public torch::nn::Module {
 public:
  // D the width of queries and of what comes out, C that of what keys and values are made of;
  // dropout is that on the weights. `heads` divides D.
  MultiHeadAttention(std::int64_t D, std::int64_t C, std::int64_t heads, double dropout);

  // Keys and values of all heads, side by side: z [B, S, C] -> [B, S, 2D].
  torch::Tensor keys_and_values(const torch::Tensor& z);
  // x [B, T, D]; padding: of the keys and values; causal: x_t sees z_s of s ≤ t alone.
  Attended forward(const torch::Tensor& x, const torch::Tensor& keys_and_values,
                   const Padding& padding, bool causal, bool want_weights);

 private:
  std::int64_t heads_;
  Linear W_Q_{nullptr};   // [D, D]
  Linear W_KV_{nullptr};  // [2D, C]
  Linear W_O_{nullptr};   // [D, D]
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
