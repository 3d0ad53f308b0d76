// Chooses between the fused operations of this folder and their reference implementations.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

// True on the CPU in single or double precision, unless use_reference(true) was called.
bool is_fused_on(const torch::Tensor& x);

// For benchmarks and tests only. From now on, all threads use the reference implementations:
// LibTorch's operations, with autograd through each step. use_reference(false) undoes this.
void use_reference(bool wanted);

}  // namespace regard::kernels
