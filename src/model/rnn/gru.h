// The gated recurrent unit (Cho et al. 2014), in the form of Bahdanau et al. 2015, A.1.1:
//
//   r = σ(W_r x + U_r s + b_r)         z = σ(W_z x + U_z s + b_z)
//   s̃ = tanh(W x + U [r ⊙ s] + b)      s' = z ⊙ s + (1 − z) ⊙ s̃
//
// or with the reset gate after the product, as in cuDNN:
//
//   s̃ = tanh(W x + b + r ⊙ (U s + b_U))
//
// What does not wait for the last state (W x + b, for all steps at once) is the caller's one
// product before the time loop. The three gates lie side by side in the order r, z, s̃.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "config/model_options.h"
#include "kernels/gru.h"

namespace regard {

// The recurrent half of a GRU layer. G cells of one size run side by side in one batched product:
// the two directions of an encoder (G = 2), or a single cell (G = 1).
class GruCell : public torch::nn::Module {
 public:
  GruCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, ResetGate reset);

  // W x + b: inputs x [G, N, I] -> [G, N, 3D].
  torch::Tensor project(const torch::Tensor& x);
  // All steps in turn: projected [G, T, B, 3D], first state [G, B, D] -> [G, T, B, D].
  torch::Tensor sequence(const torch::Tensor& projected, const torch::Tensor& state);
  // A single cell (G = 1), one step: projected [B, 3D], state [B, D] -> the next state [B, D].
  torch::Tensor step(const torch::Tensor& projected, const torch::Tensor& state);
  // A single cell, all steps with attention in the loop: projected [T, B, 3D], state [B, D].
  kernels::GruSequence sequence(const torch::Tensor& projected, const torch::Tensor& state,
                                const kernels::GruAttention& attention);

  std::int64_t hidden_size() const { return U_.size(1); }

 private:
  torch::Tensor b_U(std::int64_t g) const;  // [D] or undefined

  ResetGate reset_;
  torch::Tensor W_;    // [G, I, 3D]
  torch::Tensor U_;    // [G, D, 3D]
  torch::Tensor b_;    // [G, 1, 3D]
  torch::Tensor b_U_;  // [G, 1, D], only with the reset gate after the product
};

}  // namespace regard
