// The input of a 3 × 3 convolution with stride 1, as rows of a matrix product:
//
//   y_{h,w} = Σ_{i,j = −1 … 1} W_{ij} x_{h+i, w+j} = W n_{h,w}
//   n_{h,w} = [x_{h−1,w−1}; x_{h−1,w}; x_{h−1,w+1}; x_{h,w−1}; … x_{h+1,w+1}]
//
// x is 0 beyond the edges. A convolution is then linear(neighbourhoods(x), W) (linear.h), which
// computes the same bits in every batch of a search. LibTorch's convolutions do not.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

// x [B, H, W, C] -> n [B, H, W, 9 C]. Differentiable, on any device.
torch::Tensor neighbourhoods(const torch::Tensor& x);

}  // namespace regard::kernels
