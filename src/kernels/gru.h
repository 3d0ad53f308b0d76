// All T steps of a GRU, optionally with attention in the loop, and a hand-written gradient.
//
//   u_t = U s_{t−1}                                          the only products in the loop
//   α_t = attention(s_{t−1}),  x̂_t = x_t + Σ_s α_ts m_s      attention_rows.h
//   s_t = cell(x̂_t, u_t, s_{t−1})                            gru_rows.h
//
// model/rnn/cell.h has the equations and the order of the gates. U s_{t−1} stands for all products
// with U, also U (r ⊙ s_{t−1}) if the reset gate comes before the product. The gradient of each
// weight is one product over all steps, after the loop. Not twice differentiable.
#pragma once

#include <torch/types.h>

#include <optional>

#include "kernels/attention.h"

namespace regard::kernels {

struct GruAttention {
  AttentionScore score;
  torch::Tensor mixed;  // m [B, S, 3D] = C h_s: the contribution of h_s to the gates
};

struct GruSequence {
  torch::Tensor states;   // [T, B, D]
  torch::Tensor weights;  // α [T, B, S], with attention
};

// x [T, B, 3D] = W x + b, first state [B, D], U [D, 3D]; b_U [D] if the reset gate comes after the
// product, else undefined. Fused on the CPU in single or double precision; otherwise calls
// gru_reference().
GruSequence gru(const torch::Tensor& x, const torch::Tensor& first, const torch::Tensor& U,
                const torch::Tensor& b_U, const std::optional<GruAttention>& attention = {});

// One step: x [B, 3D], s [B, D] -> the next state [B, D]. Uses the kernels, which have no gradient
// here, if packed weights are in use (packed_weights.h), otherwise the reference implementation.
torch::Tensor gru_step(const torch::Tensor& x, const torch::Tensor& s, const torch::Tensor& U,
                       const torch::Tensor& b_U);

// Reference implementations: LibTorch's operations and the products of linear.h, on any device.
torch::Tensor gru_step_reference(const torch::Tensor& x, const torch::Tensor& s,
                                 const torch::Tensor& U, const torch::Tensor& b_U);
GruSequence gru_reference(const torch::Tensor& x, const torch::Tensor& first,
                          const torch::Tensor& U, const torch::Tensor& b_U,
                          const std::optional<GruAttention>& attention = {});

}  // namespace regard::kernels
