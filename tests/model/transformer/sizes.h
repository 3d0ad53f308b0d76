// A small Transformer's sizes, and what is drawn at random for it.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "config/model_options.h"

namespace regard {

inline SelfAttentionOptions small_attention(NormPlacement norm = NormPlacement::pre) {
  SelfAttentionOptions options;
  options.heads = 2;
  options.feed_forward_size = 5;
  options.norm = norm;
  return options;
}

inline constexpr DropoutOptions no_dropout{.embeddings = 0, .states = 0, .readout = 0};

// All parameters, biases and norms too, so that none of them can be left out unseen.
inline void draw_parameters(torch::nn::Module& module) {
  const torch::NoGradGuard guard;
  module.to(torch::kDouble);
  for (auto& parameter : module.parameters()) parameter.normal_(0, 0.5);
}

}  // namespace regard
