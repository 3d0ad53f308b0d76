// A small Transformer's sizes, and what is drawn at random for it.
#pragma once

#include <gtest/gtest.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <string>
#include <vector>

#include "config/model_options.h"

namespace regard {

inline SelfAttentionOptions small_attention(NormPlacement norm = NormPlacement::pre) {
  SelfAttentionOptions options;
  options.heads = 2;
  options.feed_forward_size = 5;
  options.norm = norm;
  return options;
}

// The kinds of layers that are held to plain loops.
struct LayersCase {
  std::string name;
  NormPlacement norm;
  PositionKind position;

  bool is_pre() const { return norm == NormPlacement::pre; }
  bool is_rotary() const { return position == PositionKind::rotary; }
  SelfAttentionOptions options() const {
    auto options = small_attention(norm);
    options.position = position;
    return options;
  }
};

inline std::vector<LayersCase> layers_cases() {
  return {{"pre", NormPlacement::pre, PositionKind::none},
          {"post", NormPlacement::post, PositionKind::none},
          {"rotary", NormPlacement::pre, PositionKind::rotary},
          {"rotary_and_post", NormPlacement::post, PositionKind::rotary}};
}

inline std::string name_of_layers(const testing::TestParamInfo<LayersCase>& tested) {
  return tested.param.name;
}

inline constexpr DropoutOptions no_dropout{.embeddings = 0, .states = 0, .readout = 0};

// All parameters, biases and norms too, so that none of them can be left out unseen.
inline void draw_parameters(torch::nn::Module& module) {
  const torch::NoGradGuard guard;
  module.to(torch::kDouble);
  for (auto& parameter : module.parameters()) parameter.normal_(0, 0.5);
}

}  // namespace regard
