// The position-wise feed-forward network (Vaswani et al. 2017, section 3.3):
//
//   y = W_2 max(0, W_1 x + b_1) + b_2
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "model/dropout.h"
#include "model/linear.h"

namespace regard {

class FeedForward : public torch::nn::Module {
 public:
  // D wide outside, F inside, where the dropout is.
  FeedForward(std::int64_t D, std::int64_t F, double dropout)
      : W_1_(register_module("W_1", Linear(D, F))),
        W_2_(register_module("W_2", Linear(F, D))),
        dropout_(register_module("dropout", std::make_shared<Dropout>(dropout))) {}

  // [B, T, D] -> [B, T, D]
  torch::Tensor forward(const torch::Tensor& x) { return W_2_(dropout_->forward(W_1_(x).relu_())); }

 private:
  Linear W_1_;  // [F, D]
  Linear W_2_;  // [D, F]
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
