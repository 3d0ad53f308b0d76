// The heads of multi-head attention, side by side in one tensor.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace regard {

// x [B, S, H · d] -> [B, H, S, d], a view.
inline torch::Tensor by_head(const torch::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}

}  // namespace regard
