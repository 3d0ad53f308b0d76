// The input of the first layer of an encoder or a decoder, from embedded tokens:
//
//   x_t = dropout(E[y_t])                       recurrent layers
//   x_t = dropout(sqrt(D) E[y_t] + p_t)         Transformer layers (Vaswani et al. 2017, 3.4, 3.5)
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "config/model_options.h"
#include "model/layers.h"
#include "model/transformer/positions.h"

namespace regard {

class InputLayer : public torch::nn::Module {
 public:
  // `side` is the configuration section of the options, such as "model.encoder".
  InputLayer(LayerKind kind, std::int64_t width, SelfAttentionOptions options, double dropout,
             const std::string& side);

  // Returns x for embedded tokens [B, T, E], or [N, E] for one step. `first` is the position of the
  // first token.
  torch::Tensor forward(const torch::Tensor& embedded, std::int64_t first = 0) const;

 private:
  double scale_ = 1;
  std::shared_ptr<Positions> positions_;  // null for recurrent layers
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace regard
