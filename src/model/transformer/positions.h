// Position embeddings: add a vector p_t, learned or sinusoidal, to the input at position t (Vaswani
// et al. 2017, section 3.5):
//
//   p(t, 2i) = sin(t / 10000^(2i/D))      p(t, 2i + 1) = cos(t / 10000^(2i/D))
//
// Rotary positions (Su et al. 2021) add nothing to the input. Self-attention rotates queries and
// keys by these angles instead (kernels::rotate), with the width d of a head in place of D.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "config/model_options.h"
#include "model/seq2seq.h"

namespace regard {

class Positions : public torch::nn::Module {
 public:
  // D is the width. `section` is the configuration section of max_positions, such as
  // "model.encoder", for messages. PositionKind::automatic means none here.
  Positions(const SelfAttentionOptions& options, std::int64_t D, std::string section);

  // Returns the vectors of positions 0 … T − 1: [T, D], if they are sinusoidal or learned. Throws
  // InputError beyond the last learned position.
  torch::Tensor first(std::int64_t T) const { return rows(0, T); }
  // Returns those of the rows of a state: [N, D], or [1, D] if all are at the same position.
  torch::Tensor of_rows(const DecoderState& state) const;

  // Returns x + p for x [B, T, D] at positions 0 … T − 1. Throws InputError beyond the last learned
  // position.
  torch::Tensor add_to(const torch::Tensor& x) const;
  // Same, for x [N, D] at the positions of the rows of a state.
  torch::Tensor add_to(const torch::Tensor& x, const DecoderState& state) const;

 private:
  // Returns p of positions first … first + n − 1: [n, D].
  torch::Tensor rows(std::int64_t first, std::int64_t n) const;
  // Computes the sinusoids of positions t [n] int64, which is on the CPU: [n, D].
  torch::Tensor compute(const torch::Tensor& t) const;

  PositionKind kind_;
  std::string section_;
  // The learned vectors [max_positions, D], or the sinusoids of the first positions, in double
  // precision, or undefined if nothing is added.
  torch::Tensor p_;
};

// Returns the sines and cosines that kernels::rotate needs for queries and keys of width D in
// options.heads heads, or null if positions are not rotary.
std::shared_ptr<Positions> make_rotation(const SelfAttentionOptions& options, std::int64_t D);

}  // namespace regard
