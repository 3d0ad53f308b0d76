// Where the fused operations of this folder are used in place of their composites.
#pragma once

#include <torch/torch.h>

namespace regard::kernels {

inline bool is_fused_on(const torch::Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kDouble);
}

}  // namespace regard::kernels
