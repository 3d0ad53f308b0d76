// The functions of a model besides products (linear.h) and attention (attention.h).
//
// All but dropout are LibTorch's, differentiable and on any device, except in a search on the CPU
// (mode.h). There each element, or each row along the last
// dimension, is computed independently, so that its result has the same bits whatever else is in
// the tensor. (LibTorch computes the last elements of a tensor, which do not fill a vector,
// differently.) In single precision, absolute errors are below 3e-7; for exp and log, relative
// errors are below 3e-7.
#pragma once

#include <torch/types.h>

#include <limits>

#include "kernels/keyed_dropout.h"

namespace regard {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();  // log 0

}  // namespace regard

namespace regard::kernels {

torch::Tensor tanh(const torch::Tensor& x);
torch::Tensor sigmoid(const torch::Tensor& x);
torch::Tensor exp(const torch::Tensor& x);
torch::Tensor log(const torch::Tensor& x);  // x above 0, not subnormal
torch::Tensor softplus(const torch::Tensor& x);
torch::Tensor log_sigmoid(const torch::Tensor& x);

// Along the last dimension. Appending −∞ to a row does not change the other results of
// log_softmax().
torch::Tensor softmax(const torch::Tensor& x);
torch::Tensor log_softmax(const torch::Tensor& x);

// x / max(|x|, least) along the last dimension
torch::Tensor unit(const torch::Tensor& x, double least);

// x [M, …] -> log Σ_m exp(x_m) […]
torch::Tensor log_sum_exp(const torch::Tensor& x);

// Dropout of x, of any shape, with the mask of a key, on the CPU in single or double precision.
// Otherwise, or with use_reference() (device.h), LibTorch's dropout, which ignores the key.
torch::Tensor dropout(const torch::Tensor& x, const KeyedDropout& dropout);

}  // namespace regard::kernels
