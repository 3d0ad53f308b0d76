// y = W x + b, as a part of a model.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "kernels/linear.h"

namespace regard {

class LinearImpl : public torch::nn::Module {
 public:
  // W [out, in] xavier_uniform; b [out] 0, if there is to be one.
  LinearImpl(std::int64_t in, std::int64_t out, bool with_bias = true);

  // x [..., in] -> [..., out]
  torch::Tensor forward(const torch::Tensor& x) { return kernels::linear(x, weight, bias); }

  torch::Tensor weight;
  torch::Tensor bias;
};
TORCH_MODULE(Linear);

}  // namespace regard
