// The probabilities of a pointer-generator (See, Liu, Manning 2017; model/output/copy_output.h):
//
//   log P(y) = log(σ(g) P_vocabulary(y) + σ(−g) Σ_{s: x_s = y} α_s)
//
// Ids of source words from V on are words outside of the vocabulary. They can only be copied: for
// those of a sentence, the sum of weights is at least the smallest normal float, so that log P
// stays finite if their weights underflow to 0.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace regard::kernels {

// log_p [B, G, V] of the vocabulary, gate g [B, G, 1], weights α [B, G, S], ids x [B, S] int64 of
// the source words, each below `width`, of which lengths [B] are real -> log P [B, G, width], −∞
// for the ids from V on that a sentence does not have. In a search on the CPU (mode.h) sentence by
// sentence, over its words; otherwise by LibTorch's operations, which are differentiable.
torch::Tensor copy_mixture(const torch::Tensor& log_p, const torch::Tensor& gate,
                           const torch::Tensor& weights, const torch::Tensor& ids,
                           const torch::Tensor& lengths, std::int64_t width);

// The parts, differentiable. Returns Σ_{s: x_s = y} α_s for all y < width: [B, G, width].
torch::Tensor copied_mass(const torch::Tensor& weights, const torch::Tensor& ids,
                          std::int64_t width);
// Returns the logarithm of masses of words. Where `is_extended` is false, it is −∞ without gradient
// for a mass of 0.
torch::Tensor log_mass(const torch::Tensor& mass, const torch::Tensor& is_extended);
// Returns log(σ(g) generated + σ(−g) copied).
torch::Tensor log_mixture(const torch::Tensor& gate, const torch::Tensor& log_generated,
                          const torch::Tensor& log_copied);

}  // namespace regard::kernels
