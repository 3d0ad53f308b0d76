// Dropout whose masks come from the model's random stream (random_stream.h).
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

namespace regard {

// Scales what it keeps by 1 / (1 − p) in training, does nothing in evaluation.
class Dropout : public torch::nn::Module {
 public:
  explicit Dropout(double p) : p_(p) {}
  torch::Tensor forward(const torch::Tensor& x) const;
  bool drops() const { return is_training() && p_ > 0; }

 private:
  double p_;
};

}  // namespace regard
