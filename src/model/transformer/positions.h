// Position embeddings: add a vector p_t, learned or sinusoidal, to the input at position t (Vaswani
// et al. 2017, section 3.5):
//
//   p(t, 2i) = sin(t / 10000^(2i/D))      p(t, 2i + 1) = cos(t / 10000^(2i/D))
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <string>

#include "config/model_options.h"

namespace regard {

class Positions : public torch::nn::Module {
 public:
  // D is the width. `side` is the configuration section of max_positions, such as "model.encoder",
  // for messages. PositionKind::automatic means none here.
  Positions(const SelfAttentionOptions& options, std::int64_t D, std::string side);

  // Returns x + p for x [B, T, D] at positions first … first + T − 1, or for x [N, D], all at
  // position `first`. Throws InputError beyond the last learned position.
  torch::Tensor add_to(const torch::Tensor& x, std::int64_t first) const;

 private:
  torch::Tensor rows(std::int64_t first, std::int64_t n) const;  // [n, D]

  PositionKind kind_;
  std::string side_;
  torch::Tensor p_;  // learned [max_positions, D], or the first sinusoids, or undefined
};

}  // namespace regard
