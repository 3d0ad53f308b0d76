// The functions that a model is made of besides products (linear.h) and attention (attention.h).
//
// They are LibTorch's, differentiable and on any device, except in a search on the CPU
// (is_batch_invariant in packed_weights.h): there each element, and each row along the last
// dimension, is computed by itself, so that its result is the same to the bit whatever else is in
// the tensor. LibTorch computes the last elements of a tensor, which fill no vector, in another way
// than the others. Absolute errors in single precision are below 3e-7, relative ones of exp and log
// below 3e-7.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

torch::Tensor tanh(const torch::Tensor& x);
torch::Tensor sigmoid(const torch::Tensor& x);
torch::Tensor exp(const torch::Tensor& x);
torch::Tensor log(const torch::Tensor& x);  // of normal numbers above 0
torch::Tensor softplus(const torch::Tensor& x);
torch::Tensor log_sigmoid(const torch::Tensor& x);

// Along the last dimension. −∞ at the end of a row changes nothing of its log_softmax.
torch::Tensor softmax(const torch::Tensor& x);
torch::Tensor log_softmax(const torch::Tensor& x);

// x / max(|x|, least) along the last dimension
torch::Tensor unit(const torch::Tensor& x, double least);

// x [M, …] -> log Σ_m exp(x_m) […]
torch::Tensor log_sum_exp(const torch::Tensor& x);

}  // namespace regard::kernels
