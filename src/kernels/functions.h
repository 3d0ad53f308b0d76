// The functions of a model besides products (linear.h) and attention (attention.h).
//
// All but dropout are LibTorch's, differentiable and on any device, except in a search on the CPU
// (mode.h). There each element, or each row along the last dimension, is computed independently, so
// that its result has the same bits whatever else is in the tensor. (LibTorch computes the last
// elements of a tensor, which do not fill a vector, differently.) In single precision, absolute
// errors are below 3e-7, those of gelu below 1e-6; for exp and log, relative errors are below 3e-7.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/keyed_dropout.h"

namespace regard {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();  // log 0

}  // namespace regard

namespace regard::kernels {

// Dropout with a key that was drawn (model/random_stream.h). While a step of a device is captured,
// the key is in the memory of the device too, where each launch of the graph finds that of its own
// step.
struct DrawnDropout : KeyedDropout {
  DrawnDropout(const KeyedDropout& dropout = {}, torch::Tensor in_memory = {})
      : KeyedDropout(dropout), key_on_device(std::move(in_memory)) {}

  std::int64_t key_as_int() const { return static_cast<std::int64_t>(key); }

  torch::Tensor key_on_device;  // 0-dim int64, or undefined
};

torch::Tensor tanh(const torch::Tensor& x);
torch::Tensor sigmoid(const torch::Tensor& x);
torch::Tensor exp(const torch::Tensor& x);
torch::Tensor log(const torch::Tensor& x);  // x above 0, not subnormal
torch::Tensor softplus(const torch::Tensor& x);
torch::Tensor log_sigmoid(const torch::Tensor& x);
torch::Tensor gelu(const torch::Tensor& x);  // x Φ(x), with the normal distribution function Φ

// Along the last dimension. Appending −∞ to a row does not change the other results of
// log_softmax().
torch::Tensor softmax(const torch::Tensor& x);
torch::Tensor log_softmax(const torch::Tensor& x);

// x / max(|x|, least) along the last dimension
torch::Tensor unit(const torch::Tensor& x, double least);

// x [M, …] -> log Σ_m exp(x_m) […]
torch::Tensor log_sum_exp(const torch::Tensor& x);

// Dropout of x, of any shape, with the mask of a key, on the CPU in single or double precision and
// on devices with row operators (device.h). Otherwise, or with use_reference(), LibTorch's dropout,
// which ignores the key.
torch::Tensor dropout(const torch::Tensor& x, const DrawnDropout& dropout);
// dropout(max(0, x)) under the same conditions. x may be overwritten.
torch::Tensor relu_dropout(const torch::Tensor& x, const DrawnDropout& dropout);

}  // namespace regard::kernels
