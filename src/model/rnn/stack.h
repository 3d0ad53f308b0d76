// How the layers of a recurrent stack are joined, from the second on:
//
//   x_l = layer_l(dropout(x_{l−1}))
//   x_l = x_{l−1} + layer_l(dropout(x_{l−1}))          with residual (He et al. 2016)
//   norm_l(x_{l−1}) for what a layer reads, and norm(x_L) at the top, with layer_norm
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/dropout.h"
#include "model/layer_norm.h"

namespace regard {

class Stack : public torch::nn::Module {
 public:
  // All layers show states of this width.
  Stack(std::int64_t layers, std::int64_t width, bool residual, bool layer_norm, double dropout);

  // What layer l, from 1 on, reads of the layers below, x [..., width].
  torch::Tensor input(std::size_t l, const torch::Tensor& x) const;
  // What layer l and those below come to, where layer l has made y of that.
  torch::Tensor joined(std::size_t l, const torch::Tensor& x, const torch::Tensor& y) const;
  // What the whole stack shows, of what its layers come to.
  torch::Tensor top(const torch::Tensor& x) const;

 private:
  bool residual_;
  std::vector<std::shared_ptr<LayerNorm>> norms_;  // before each layer but the first, and the top's
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
