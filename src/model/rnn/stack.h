// The connections between the layers of a recurrent stack, from the second layer on:
//
//   x_l = layer_l(dropout(x_{l−1}))
//   x_l = x_{l−1} + layer_l(dropout(x_{l−1}))          with residual (He et al. 2016)
//   norm_l(x_{l−1}) as the input of a layer, and norm(x_L) at the top, with layer_norm
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
  // width: of the outputs of all layers.
  Stack(std::int64_t layers, std::int64_t width, bool residual, bool layer_norm, double dropout);

  // The input of layer l, from 1 on, given x_{l−1} [..., width].
  torch::Tensor input(std::size_t l, const torch::Tensor& x) const;
  // x_l, given x_{l−1} and the output y of layer l.
  torch::Tensor next_layer_input(std::size_t l, const torch::Tensor& x,
                                 const torch::Tensor& y) const;
  // The output of the stack, given x_L.
  torch::Tensor top_output(const torch::Tensor& x) const;

 private:
  bool residual_;
  std::vector<std::shared_ptr<LayerNorm>>
      norms_;  // before each layer but the first, and at the top
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
