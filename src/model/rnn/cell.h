// The recurrent cells: s_t = f(x_t, s_{t−1}). The time loops are in kernels/recurrence.h.
//
// A cell has K gates of width D, concatenated. The contribution of the input to the gates, W x + b,
// does not depend on the state: the caller computes it with project(), for all steps in one
// product, before the time loop. A state begins with the output of the cell and can be longer: the
// state of an LSTM is [h; c].
//
// The gated recurrent unit (Cho et al. 2014, section 2.3); the order of the gates is r, z, s̃.
// Bahdanau et al. 2015, A.1.1, use it with z and 1 − z exchanged, which is the same function:
//
//   r = σ(W_r x + U_r s + b_r)         z = σ(W_z x + U_z s + b_z)
//   s̃ = tanh(W x + U [r ⊙ s] + b)      s' = z ⊙ s + (1 − z) ⊙ s̃
//
// or, with the reset gate after the product as in cuDNN:
//
//   s̃ = tanh(W x + b + r ⊙ (U s + b_U))
//
// Long short-term memory (Hochreiter, Schmidhuber 1997; Gers et al. 2000); the order of the gates
// is i, f, o, c̃. b_f is 1 initially, so that an untrained cell does not forget (Jozefowicz et al.
// 2015):
//
//   i = σ(W_i x + U_i h + b_i)      f, o likewise      c̃ = tanh(W x + U h + b)
//   c' = f ⊙ c + i ⊙ c̃              h' = o ⊙ tanh(c')
//
// The simple recurrent network (Elman 1990): h' = tanh(W x + U h + b).
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <optional>

#include "config/model_options.h"
#include "kernels/recurrence.h"

namespace regard {

// G independent cells of one kind and size: the two directions of an encoder (G = 2), or one cell.
class Cell : public torch::nn::Module {
 public:
  // Inputs are input_size wide, outputs hidden_size = D. Only the GRU reads `reset`. Initialises W
  // by xavier_uniform and U by orthogonal, gate by gate.
  Cell(CellKind kind, std::int64_t G, std::int64_t input_size, std::int64_t hidden_size,
       ResetGate reset);

  // Computes W x + b: inputs x [G, N, I] -> [G, N, K · D]. The N rows can be all steps of a batch.
  torch::Tensor project(const torch::Tensor& x);
  // Runs all steps: projected [G, T, B, K · D], initial state [G, B, state_size] -> outputs
  // [G, T, B, D].
  torch::Tensor sequence(const torch::Tensor& projected, const torch::Tensor& state);
  // Runs all steps from a state of zeros: inputs x [G, T, B, I] -> outputs [G, T, B, D], and the
  // memory of an LSTM [G, T, B, D] if it is wanted.
  kernels::Recurrence sequence_from_zero(const torch::Tensor& x, bool want_memory = false);
  // Runs one step of a single cell (G = 1): projected [B, K · D], state [B, state_size] -> next
  // state.
  torch::Tensor step(const torch::Tensor& projected, const torch::Tensor& state);
  // Runs all steps of a single cell (G = 1) with attention inside the loop: projected
  // [T, B, K · D], initial state [B, state_size].
  kernels::Recurrence sequence_with_attention(const torch::Tensor& projected,
                                              const torch::Tensor& state,
                                              const kernels::LoopAttention& attention);
  // Runs all steps of this cell and a second one (both G = 1) with attention between them.
  kernels::Recurrence sequence_with_second(const torch::Tensor& projected,
                                           const torch::Tensor& state, const Cell& second,
                                           const kernels::LoopAttention& attention);

  // Returns the output [N, D] of a state [N, state_size].
  torch::Tensor hidden_output(const torch::Tensor& state) const { return state.narrow(-1, 0, D_); }
  std::int64_t gates_size() const { return W_.size(2); }  // K · D
  std::int64_t state_size() const { return form_ == kernels::CellForm::lstm ? 2 * D_ : D_; }

 private:
  // Returns the recurrent weights of a single cell (G = 1).
  kernels::RecurrentWeights weights() const;

  kernels::CellForm form_;
  std::int64_t D_;
  torch::Tensor W_;    // [G, I, K · D]
  torch::Tensor U_;    // [G, D, K · D]
  torch::Tensor b_;    // [G, 1, K · D]
  torch::Tensor b_U_;  // [G, 1, D], only of a GRU with the reset gate after the product
};

}  // namespace regard
