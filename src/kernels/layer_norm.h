// Layer normalisation (Ba, Kiros, Hinton 2016) of rows of width D, also of a sum of two tensors, as
// in residual connections:
//
//   s = x + dropout(z)      norm(s) = g ⊙ (s − mean(s)) / sqrt(var(s) + 1e-5) + b
//
// On the CPU in single or double precision, and on devices with row operators (device.h), one pass
// over the rows computes all of it, and another one all gradients. Otherwise, or with
// use_reference() (device.h), LibTorch's operations. The result of a row on the CPU has the same
// bits whatever the other rows are.
#pragma once

#include <torch/types.h>

#include "kernels/functions.h"

namespace regard::kernels {

struct NormOfSum {
  torch::Tensor sum;   // s [..., D]
  torch::Tensor norm;  // norm(s) [..., D]
};

// x [..., D], z of the shape of x or undefined, g and b [D]. Without z, s is x.
NormOfSum add_and_norm(const torch::Tensor& x, const torch::Tensor& z, const DrawnDropout& dropout,
                       const torch::Tensor& g, const torch::Tensor& b);

}  // namespace regard::kernels
