// The layers that encoders, decoders and attentions share.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>

#include "kernels/functions.h"
#include "kernels/layer_norm.h"
#include "kernels/linear.h"

namespace regard {

// y = W x + b
class LinearImpl : public torch::nn::Module {
 public:
  // Initialises W [out, in] by xavier_uniform and b [out] with 0.
  LinearImpl(std::int64_t in, std::int64_t out, bool with_bias = true);

  // x [..., in] -> [..., out]
  torch::Tensor forward(const torch::Tensor& x) { return kernels::linear(x, weight, bias); }

  torch::Tensor weight;
  torch::Tensor bias;  // undefined without bias
};
TORCH_MODULE(Linear);

// Dropout. In training, sets each element to 0 with probability p and scales the others by
// 1 / (1 − p), with a mask from the random stream of the model (random_stream.h). In evaluation
// mode, the identity.
class Dropout : public torch::nn::Module {
 public:
  explicit Dropout(double p) : p_(p) {}
  torch::Tensor forward(const torch::Tensor& x) const;
  // Draws a mask, which forward() would use. No dropout, and no number drawn, if not is_active().
  kernels::DrawnDropout draw() const;
  // True if forward() is not the identity.
  bool is_active() const { return is_training() && p_ > 0; }

 private:
  double p_;
};

// Layer normalisation (Ba, Kiros, Hinton 2016) over the last dimension, of width D:
//
//   norm(x) = g ⊙ (x − mean(x)) / sqrt(var(x) + 1e-5) + b
class LayerNorm : public torch::nn::Module {
 public:
  explicit LayerNorm(std::int64_t D);
  torch::Tensor forward(const torch::Tensor& x) const;
  // Computes s = x + dropout(z) and norm(s). Without z, s is x.
  kernels::NormOfSum add_and_norm(const torch::Tensor& x, const torch::Tensor& z,
                                  const kernels::DrawnDropout& dropout) const;

 private:
  torch::Tensor g_;  // [D], 1 initially
  torch::Tensor b_;  // [D], 0 initially
};

}  // namespace regard
