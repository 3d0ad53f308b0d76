// Layer normalisation (Ba, Kiros, Hinton 2016), over the width of each position:
//
//   norm(x) = g ⊙ (x − mean(x)) / sqrt(var(x) + 1e-5) + b
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>

namespace regard {

class LayerNorm : public torch::nn::Module {
 public:
  explicit LayerNorm(std::int64_t D)
      : g_(register_parameter("g", torch::ones({D}))),
        b_(register_parameter("b", torch::zeros({D}))) {}
  torch::Tensor forward(const torch::Tensor& x) const {
    return torch::layer_norm(x, g_.sizes(), g_, b_);
  }

 private:
  torch::Tensor g_;  // [D]
  torch::Tensor b_;  // [D]
};

}  // namespace regard
