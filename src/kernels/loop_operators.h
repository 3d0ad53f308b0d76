// The steps of the time loops as operators of LibTorch, regard::attend and so on, for devices that
// have kernels for them: CUDA those of src/cuda/loops.h (cuda_kernels.cpp). The CPU has none; its
// loops are kernels/loops. In single precision, without a gradient: recurrence_composite.cpp calls
// them if has_kernel_operators() is true (device.h).
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "cuda/loops.h"
#include "kernels/loops/attention.h"

namespace regard::kernels::loop_operators {

using cuda::CellPart;

// The tensors of a step of G cells [G, B, ·], some of which a part does not read: cuda::CellForward
// has the equations.
struct CellStep {
  torch::Tensor gates;            // [G, B, K · D]: the inputs x, which become the activations
  torch::Tensor b_U;              // [G, 1, D] or undefined
  torch::Tensor s;                // [G, B, D]: the state before, h of an LSTM
  torch::Tensor product;          // [G, B, D]
  torch::Tensor c, next_c, next;  // [G, B, D]
};

// u [G, B, ·]: the product with U, without the columns that the part does not read. Its rows may be
// parts of wider ones.
void cell_forward(CellPart part, const CellStep& step, const torch::Tensor& u);

// d [G, B, D], of the next state or of `product` -> rows [G, B, ·]: the gradients of the sums,
// which may be parts of wider rows. Adds to d_s, and replaces d_c of an LSTM (cuda::CellBackward).
void cell_backward(CellPart part, const CellStep& step, const torch::Tensor& d,
                   const torch::Tensor& rows, const torch::Tensor& d_s, const torch::Tensor& d_c);

struct AttentionStep {
  ScoreForm form;
  double scale;
  torch::Tensor q;      // [B, A], whose rows may be parts of wider ones
  torch::Tensor keys;   // [B, S, A]
  torch::Tensor v;      // [A], additive
  torch::Tensor mixed;  // [B, S, M]
};

// padding [B, S] -> weights [B, S]; adds the mixture to x [B, M].
void attend(const AttentionStep& step, const torch::Tensor& padding, const torch::Tensor& x,
            const torch::Tensor& weights);

// weights and d_weights [B, S], the latter possibly undefined, d_mixture [B, M] -> d_e [B, S], d_q
// [B, A], or added to it. Adds to d_keys [B, S, A] (additive, cosine) and d_v [B, A] (additive).
// The rows of d_mixture and d_q may be parts of wider ones.
struct AttentionGradients {
  torch::Tensor d_e, d_q;
  bool adds_d_q;
  torch::Tensor d_keys, d_v;
};
void attend_backward(const AttentionStep& step, const torch::Tensor& weights,
                     const torch::Tensor& d_weights, const torch::Tensor& d_mixture,
                     const AttentionGradients& d);

}  // namespace regard::kernels::loop_operators
