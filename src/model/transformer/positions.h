// Position embeddings: a vector p_t added to the input at position t, learned or sinusoidal
// (Vaswani et al. 2017, section 3.5):
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
  // D: width; `side`: the section of max_positions for messages, such as "model.encoder".
  // PositionKind::automatic means none here.
  Positions(const SelfAttentionOptions& options, std::int64_t D, std::string side);

  // x + p, for x [B, T, D] from position `first` on, or x [N, D] all at position `first`.
  // InputError beyond the last learned position.
  torch::Tensor add_to(const torch::Tensor& x, std::int64_t first) const;

 private:
  torch::Tensor rows(std::int64_t first, std::int64_t n) const;  // [n, D]

  PositionKind kind_;
  std::string side_;
  torch::Tensor p_;  // [max_positions, D] learned; the first sinusoids; or undefined
};

}  // namespace regard
