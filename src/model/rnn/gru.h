// The gated recurrent unit (Cho et al. 2014), in the form of Bahdanau et al. 2015, A.1.1:
//
//   r = σ(W_r x + U_r s + b_r)         z = σ(W_z x + U_z s + b_z)
//   s̃ = tanh(W x + U [r ⊙ s] + b)      s' = z ⊙ s + (1 − z) ⊙ s̃
//
// or with the reset gate after the product, as in cuDNN:
//
//   s̃ = tanh(W x + b + r ⊙ (U s + b_U))
//
// The three gates lie side by side in the order r, z, s̃. The time loops are those of kernels/gru.h.
#pragma once

#include "model/rnn/cell.h"

namespace regard {

class GruCell : public Cell {
 public:
  GruCell(std::int64_t G, std::int64_t input_size, std::int64_t hidden_size, ResetGate reset);

  torch::Tensor sequence(const torch::Tensor& projected, const torch::Tensor& state) override;
  torch::Tensor step(const torch::Tensor& projected, const torch::Tensor& state) override;
  std::optional<kernels::GruSequence> attended_sequence(
      const torch::Tensor& projected, const torch::Tensor& state,
      const kernels::GruAttention& attention) override;

 private:
  torch::Tensor b_U(std::int64_t g) const;  // [D] or undefined

  torch::Tensor b_U_;  // [G, 1, D], only with the reset gate after the product
};

}  // namespace regard
