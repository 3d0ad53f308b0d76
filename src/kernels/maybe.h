// Optional arguments of autograd functions, which take no undefined tensors.
#pragma once

#include <torch/types.h>

#include <optional>

namespace regard::kernels {

using Maybe = std::optional<torch::Tensor>;

inline Maybe maybe(const torch::Tensor& tensor) {
  return tensor.defined() ? Maybe(tensor) : std::nullopt;
}

}  // namespace regard::kernels
