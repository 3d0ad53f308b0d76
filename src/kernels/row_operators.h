// The loops over rows as operators of LibTorch, regard::dropout and so on, so that devices can have
// kernels of their own for them: CUDA those of src/cuda/rows.h (cuda_kernels.cpp), in single
// precision. None is differentiable: the autograd functions of layer_norm.h, functions.h and
// cross_entropy.h call them if has_kernel_operators() is true (device.h). The CPU has no operators:
// dropout, addition and normalisation call the loops of loops/functions.h and loops/layer_norm.h
// there, and the others are for devices only.
#pragma once

#include <torch/types.h>

#include "kernels/functions.h"

namespace regard::kernels::row_operators {

// x of any shape -> dropout(x), contiguous. The mask is that of the elements in row-major order.
torch::Tensor dropout(const torch::Tensor& x, const DrawnDropout& dropout);

// dropout(max(0, x)), and its gradient from the result y and d_y -> d_x. Devices only. y and d_y
// are contiguous.
torch::Tensor relu_dropout(const torch::Tensor& x, const DrawnDropout& dropout);
torch::Tensor relu_dropout_backward(const torch::Tensor& y, const torch::Tensor& d_y, double p);

// The contracts below are those of the loops. x, z and their gradients are contiguous [..., D].
struct Norm {
  torch::Tensor sum;    // [..., D]; x itself if z is undefined
  torch::Tensor norm;   // [..., D]
  torch::Tensor stats;  // [n, 2]
};
Norm add_and_norm(const torch::Tensor& x, const torch::Tensor& z, const DrawnDropout& dropout,
                  const torch::Tensor& g, const torch::Tensor& b);

struct NormGradients {
  torch::Tensor d_x;
  torch::Tensor d_z;  // empty unless wanted
  torch::Tensor d_g, d_b;
};
// d_sum may be undefined.
NormGradients add_and_norm_backward(const torch::Tensor& d_sum, const torch::Tensor& d_y,
                                    const torch::Tensor& sum, const torch::Tensor& stats,
                                    const torch::Tensor& g, const DrawnDropout& dropout,
                                    bool want_d_z);

struct LossOfRows {
  torch::Tensor loss;    // 0-dim, summed over rows
  torch::Tensor nll;     // [n] double
  torch::Tensor d_bias;  // [V]
};
// Replaces logits [n, V], which lack their bias [V], by their gradient, unless it is not wanted.
// Rows where `ignored` [n] is true, if defined, have no loss and no gradient. Devices only.
LossOfRows cross_entropy(const torch::Tensor& logits, const torch::Tensor& bias,
                         const torch::Tensor& targets, const torch::Tensor& ignored,
                         double label_smoothing, bool with_gradient);

}  // namespace regard::kernels::row_operators
