// What tells self-attention the positions of a sequence apart: a vector p_t to add to what stands
// there, learned, or of sines and cosines (Vaswani et al. 2017, section 3.5):
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
  // For a width of D; `side` is the section whose max_positions is to blame, "model.encoder". The
  // position of the options is taken as it is, automatic as none.
  Positions(const SelfAttentionOptions& options, std::int64_t D, std::string side);

  // x [B, T, D], or of a single position [N, D], the first of them at `first`: x + p. InputError
  // beyond the last of learned positions.
  torch::Tensor add_to(const torch::Tensor& x, std::int64_t first) const;

 private:
  torch::Tensor rows(std::int64_t first, std::int64_t n) const;  // [n, D]

  PositionKind kind_;
  std::string side_;
  torch::Tensor p_;  // [max_positions, D], learned; the first sines and cosines; or undefined
};

}  // namespace regard
