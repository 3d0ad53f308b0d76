// The connections between the layers of a recurrent stack, for layers l ≥ 1 (the first is 0):
//
//   x_l = layer_l(dropout(x_{l−1}))
//   x_l = x_{l−1} + layer_l(dropout(x_{l−1}))     with `residual` (He et al. 2016)
//
// With `layer_norm`, the input of a layer is dropout(norm_l(x_{l−1})), and the output of the last
// layer is normalised too.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/layers.h"

namespace regard {

class Stack : public torch::nn::Module {
 public:
  // `width` is the width of all outputs.
  Stack(std::int64_t layers, std::int64_t width, bool residual, bool layer_norm, double dropout);

  // Returns the input of layer l ≥ 1, given x = x_{l−1} [..., width].
  torch::Tensor layer_input(std::size_t l, const torch::Tensor& x) const;
  // Returns x_l, given x = x_{l−1} and the output y of layer l. For l = 0, returns y.
  torch::Tensor add_residual(std::size_t l, const torch::Tensor& x, const torch::Tensor& y) const;
  // Returns the output of the stack, given x = x_l of the last layer.
  torch::Tensor final_norm(const torch::Tensor& x) const;

 private:
  bool residual_;
  // With layer_norm, norms_[l − 1] is norm_l, and the last one normalises the output of the stack.
  // Otherwise empty.
  std::vector<std::shared_ptr<LayerNorm>> norms_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
