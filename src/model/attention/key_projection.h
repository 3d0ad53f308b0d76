// For scores that compare query and state directly, and so want them of one width.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include "config/model_options.h"
#include "model/linear.h"

namespace regard {

class KeyProjection {
 public:
  // Registers its matrix "K" in `owner`, where the keys are to be projected. ConfigError that names
  // both widths where they differ and nothing is to project.
  KeyProjection(torch::nn::Module& owner, std::int64_t query_size, std::int64_t state_size,
                const AttentionOptions& options);

  // states [B, S, C] -> keys [B, S, D]: K h_s, or the states themselves.
  torch::Tensor operator()(const torch::Tensor& states);

 private:
  Linear K_{nullptr};  // [D, C]
};

}  // namespace regard
