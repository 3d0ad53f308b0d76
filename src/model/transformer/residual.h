// The way around a sublayer, with layer normalisation (Ba et al. 2016) after the sum, as in Vaswani
// et al. 2017, or before the sublayer, which trains deep stacks without care (Xiong et al. 2020):
//
//   post: norm(x + dropout(f(x)))      pre: x + dropout(f(norm(x)))
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "config/model_options.h"
#include "model/dropout.h"
#include "model/layer_norm.h"

namespace regard {

class Residual : public LayerNorm {
 public:
  Residual(std::int64_t D, NormPlace place, double dropout)
      : LayerNorm(D),
        place_(place),
        dropout_(register_module("dropout", std::make_shared<Dropout>(dropout))) {}

  // f: [B, T, D] -> [B, T, D]
  template <typename Sublayer>
  torch::Tensor around(const torch::Tensor& x, Sublayer&& f) const {
    if (place_ == NormPlace::pre) return x + dropout_->forward(f(forward(x)));
    return forward(x + dropout_->forward(f(x)));
  }

 private:
  NormPlace place_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
