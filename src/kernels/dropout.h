// Dropout (Srivastava et al. 2014) whose mask is a function of a key, so that it is not stored:
//
//   y_i = x_i · keep_i / (1 − p)      keep_i = [hash(key, i) ≥ p · 2³²]
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace regard::kernels {

// On the CPU in single or double precision. Otherwise, or with use_reference() (fused.h),
// LibTorch's dropout, which ignores the key.
torch::Tensor dropout(const torch::Tensor& x, double p, std::uint64_t key);

}  // namespace regard::kernels
