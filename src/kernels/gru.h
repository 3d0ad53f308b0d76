// All T steps of a GRU, with attention in its loop if wanted, and a hand-written gradient.
//
//   u_t = U s_{t−1}                                          the only products in the loop
//   α_t = attention(s_{t−1}),  x̂_t = x_t + Σ_s α_ts m_s      attention_rows.h
//   s_t = cell(x̂_t, u_t, s_{t−1})                            gru_rows.h
//
// Equations and gate order are those of model/rnn/gru.h. Weight gradients are one product over all
// steps, made after the loop. The gradient cannot itself be differentiated.
#pragma once

#include <torch/types.h>

#include <optional>

#include "kernels/attention.h"

namespace regard::kernels {

struct GruAttention {
  AttentionScore score;
  torch::Tensor mixed;  // m [B, S, 3D]: the states, times what takes a context to the gates
};

struct GruSequence {
  torch::Tensor states;   // [T, B, D]
  torch::Tensor weights;  // α [T, B, S], with attention
};

// x [T, B, 3D] = W x + b, first state [B, D], U [D, 3D]; b_U [D] where the reset gate comes after
// the product, else undefined. On the CPU in single or double precision; see gru_composite for
// anything else.
GruSequence gru(const torch::Tensor& x, const torch::Tensor& first, const torch::Tensor& U,
                const torch::Tensor& b_U, const std::optional<GruAttention>& attention = {});

// One step: x [B, 3D], s [B, D] -> the next state [B, D]. The kernels' rows where packed weights
// are in use (packed_weights.h), else the composite.
torch::Tensor gru_step(const torch::Tensor& x, const torch::Tensor& s, const torch::Tensor& U,
                       const torch::Tensor& b_U);

// The same from LibTorch's operations and the products of linear.h, on any device: one step, and
// all of them.
torch::Tensor gru_step_composite(const torch::Tensor& x, const torch::Tensor& s,
                                 const torch::Tensor& U, const torch::Tensor& b_U);
GruSequence gru_composite(const torch::Tensor& x, const torch::Tensor& first,
                          const torch::Tensor& U, const torch::Tensor& b_U,
                          const std::optional<GruAttention>& attention = {});

}  // namespace regard::kernels
