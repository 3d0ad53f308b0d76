// Optional arguments of autograd functions, which take no undefined tensors.
#pragma once

#include <torch/types.h>

#include <optional>

namespace regard::kernels {

using Maybe = std::optional<torch::Tensor>;

inline Maybe maybe(const torch::Tensor& tensor) {
  return tensor.defined() ? Maybe(tensor) : std::nullopt;
}

// Returns an undefined tensor for nullopt.
inline torch::Tensor contiguous(const Maybe& tensor) {
  return tensor ? tensor->contiguous() : torch::Tensor();
}

}  // namespace regard::kernels
