// The mean over a sentence's real positions.
#pragma once

#include <torch/types.h>

namespace regard {

// states [B, S, C], mask [B, S] bool -> [B, C]
inline torch::Tensor masked_mean(const torch::Tensor& states, const torch::Tensor& mask) {
  const auto real = mask.to(states.dtype()).unsqueeze(-1);  // [B, S, 1]
  return (states * real).sum(1) / real.sum(1);
}

}  // namespace regard
