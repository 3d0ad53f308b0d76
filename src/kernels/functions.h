// The functions of a model besides products (linear.h) and attention (attention.h).
//
// All but dropout are LibTorch's, differentiable and on any device, except in a search on the CPU
// (is_batch_invariant in packed_weights.h). There each element, or each row along the last
// dimension, is computed independently, so that its result has the same bits whatever else is in
// the tensor. (LibTorch computes the last elements of a tensor, which do not fill a vector,
// differently.) In single precision, absolute errors are below 3e-7; for exp and log, relative
// errors are below 3e-7.
#pragma once

#include <torch/types.h>

#include <cstdint>

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

// Dropout (Srivastava et al. 2014) whose mask is a function of a key, so that it is not stored:
//
//   y_i = x_i · keep_i / (1 − p)      keep_i = [hash(key, i) ≥ p · 2³²]
//
// x has any shape; i is the index of an element in row-major order. p < 1. On the CPU in single or
// double precision. Otherwise, or with use_reference() (device.h), LibTorch's dropout, which
// ignores the key.
torch::Tensor dropout(const torch::Tensor& x, double p, std::uint64_t key);

}  // namespace regard::kernels
