// Where the fused operations of this folder are used in place of their composites.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

// On the CPU in single or double precision, unless the composites are wanted.
bool is_fused_on(const torch::Tensor& x);

// For benchmarks and tests, and for nothing else: from now on, in all threads, the composites run
// everywhere, LibTorch's operations with autograd through each step; or the fused kernels again.
void use_composites(bool wanted);

}  // namespace regard::kernels
