// All T steps of a recurrent cell, optionally with attention and a first cell before it in the
// loop, and a hand-written gradient.
//
//   u_t = U h_{t−1}                                          the only products in the loop
//   α_t = attention(h_{t−1}),  x̂_t = x_t + Σ_s α_ts m_s      loops/attention.h
//   s_t = cell(x̂_t, u_t, s_{t−1})                            loops/cells.h
//
// model/rnn/cell.h has the equations of the cells and the order of their K gates. h is the output
// of a state s: all of it, except for the state [h; c] of an LSTM. U h_{t−1} stands for all
// products with U, also U (r ⊙ s_{t−1}) of a GRU whose reset gate comes before the product. The
// gradient of each weight is one product over all steps, after the loop. Not twice differentiable.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>

#include "kernels/attention.h"

namespace regard::kernels {

enum class CellForm { gru_reset_before, gru_reset_after, lstm, tanh };

// Returns K, the number of gates.
std::int64_t gate_count(CellForm form);

// The recurrent weights of one cell.
struct RecurrentWeights {
  CellForm form;
  torch::Tensor U;         // [D, K · D]
  torch::Tensor b_U = {};  // [D], only of gru_reset_after
};

// Attention inside the loop.
struct LoopAttention {
  AttentionScore score;
  torch::Tensor mixed;  // m [B, S, K · D] = C h_s: the contribution of h_s to the gates
};

struct Recurrence {
  torch::Tensor outputs;      // h [T, B, D]
  torch::Tensor weights;      // α [T, B, S], with attention
  torch::Tensor memory = {};  // c [T, B, D] of an LSTM
};

// x [T, B, K · D] = W x + b, first state [B, D], or [B, 2D] of an LSTM. Fused on the CPU in single
// or double precision; recurrence_composite() on other devices.
//
// With a first cell, of the same form, attention is between the two (Sennrich et al. 2017,
// Nematus). m_s is W h_s + b of the second cell, `cell`:
//
//   s'_t = first_cell(x_t, s_{t−1})
//   s_t = cell(Σ_s α_ts m_s, s'_t),  α_t = attention(h'_t)
Recurrence recurrence(const torch::Tensor& x, const torch::Tensor& first,
                      const RecurrentWeights& cell,
                      const std::optional<LoopAttention>& attention = {},
                      const RecurrentWeights* first_cell = nullptr);

// As recurrence(), for G independent cells with weights U [G, D, K · D] and b_U [G, 1, D]:
// x [G, T, B, K · D], first [G, B, ·] -> h and c [G, T, B, D].
Recurrence recurrence_each(const torch::Tensor& x, const torch::Tensor& first,
                           const RecurrentWeights& cells);

// The loops for other devices than the CPU: few operations of LibTorch, and a hand-written
// gradient. Shapes as for the functions above. They need memory for AttentionScore::keys once.
// Without the kernels of loop_operators.h, the gradient of the additive score needs 256 MB more, or
// the size of the keys if they are larger.
Recurrence recurrence_composite(const torch::Tensor& x, const torch::Tensor& first,
                                const RecurrentWeights& cell,
                                const std::optional<LoopAttention>& attention = {},
                                const RecurrentWeights* first_cell = nullptr);
Recurrence recurrence_each_composite(const torch::Tensor& x, const torch::Tensor& first,
                                     const RecurrentWeights& cells);

// All steps of G cells from a state of zeros by LibTorch's gru or lstm, which is cuDNN on CUDA:
// inputs x [G, T, B, I], weights W [G, I, K · D] and b [G, 1, K · D] -> h [G, T, B, D]. Only for
// gru_reset_after and lstm.
torch::Tensor recurrence_of_library(const torch::Tensor& x, const torch::Tensor& W,
                                    const torch::Tensor& b, const RecurrentWeights& cells);
// True if it is the fastest way for these inputs.
bool has_recurrence_of_library(const torch::Tensor& x, CellForm form);

// True if all steps of a decoder may be computed by one of the functions above. In a search on the
// CPU (mode.h), each must have the bits of recurrent_step().
bool can_fuse_steps(const torch::Tensor& x);

// One step: x [B, K · D], state s -> the next state. Uses the kernels, which have no gradient here,
// in a search on the CPU, otherwise the reference implementation.
torch::Tensor recurrent_step(const torch::Tensor& x, const torch::Tensor& s,
                             const RecurrentWeights& cell);

// Reference implementations: LibTorch's operations and the products of linear.h, on any device.
torch::Tensor recurrent_step_reference(const torch::Tensor& x, const torch::Tensor& s,
                                       const RecurrentWeights& cell);
Recurrence recurrence_reference(const torch::Tensor& x, const torch::Tensor& first,
                                const RecurrentWeights& cell,
                                const std::optional<LoopAttention>& attention = {},
                                const RecurrentWeights* first_cell = nullptr);

}  // namespace regard::kernels
