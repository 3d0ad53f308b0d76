// The probabilities of a pointer-generator (See, Liu, Manning 2017; model/output/copy_output.h):
//
//   log P(y) = log(σ(g) P_vocabulary(y) + σ(−g) Σ_{s: x_s = y} α_s)
//
// Ids ≥ V are source words outside the vocabulary. They can only be copied: for those of a
// sentence, the sum of weights is at least the smallest normal float, so that log P stays finite if
// their weights underflow to 0.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace regard::kernels {

// Returns log P [B, G, width], −∞ for ids ≥ V that the sentence does not have. log_p [B, G, V] is
// log P_vocabulary, gate g [B, G, 1], weights α [B, G, S], ids x [B, S] int64 < width. At padding,
// α is 0 and the id is < V. Only the CPU search (mode.h) reads lengths [B] (on the CPU); the other
// path is differentiable.
torch::Tensor copy_mixture(const torch::Tensor& log_p, const torch::Tensor& gate,
                           const torch::Tensor& weights, const torch::Tensor& ids,
                           const torch::Tensor& lengths, std::int64_t width);

// The parts, differentiable. Returns Σ_{s: x_s = y} α_s for all y < width: [B, G, width].
torch::Tensor copied_mass(const torch::Tensor& weights, const torch::Tensor& ids,
                          std::int64_t width);
// Returns the logarithm of the masses of vocabulary words: −∞ without gradient for a mass of 0.
torch::Tensor log_mass(const torch::Tensor& mass);
// Returns the logarithm of the masses of words with ids ≥ V, each at least the smallest normal
// float.
torch::Tensor log_extended_mass(const torch::Tensor& mass);
// Returns log(σ(g) generated + σ(−g) copied).
torch::Tensor log_mixture(const torch::Tensor& gate, const torch::Tensor& log_generated,
                          const torch::Tensor& log_copied);

}  // namespace regard::kernels
