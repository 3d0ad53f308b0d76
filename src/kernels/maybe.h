// Optional arguments of autograd functions and of operators, which take no undefined tensors.
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

// The numbers of an argument of a kernel, in single precision unless T says otherwise; null for
// nullopt and for a tensor without any.
template <typename T = float>
const T* read(const torch::Tensor& x) {
  return x.const_data_ptr<T>();
}
template <typename T = float>
const T* read(const Maybe& x) {
  return x ? read<T>(*x) : nullptr;
}
template <typename T = float>
T* written(const torch::Tensor& x) {
  return x.numel() > 0 ? x.mutable_data_ptr<T>() : nullptr;
}
template <typename T = float>
T* written(const Maybe& x) {
  return x ? written<T>(*x) : nullptr;
}

}  // namespace regard::kernels
