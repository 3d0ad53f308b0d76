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

// The source words of N rows, which have S positions each.
struct Copies {
  torch::Tensor gate;     // g [N]
  torch::Tensor weights;  // α [N, S], not negative
  torch::Tensor ids;      // x [N, S] int64, 0 ≤ x < V + S
};

// Returns −log P(target) of each row [N], differentiable, from nll_of_vocabulary [N], which is
// −log P_vocabulary(target) where the target [N] is below V, and any number elsewhere.
torch::Tensor copy_nll(const torch::Tensor& nll_of_vocabulary, const torch::Tensor& targets,
                       std::int64_t V, const Copies& copies);

// Returns log P of the words of the vocabulary, differentiable, from log P_vocabulary: [N, V].
torch::Tensor copy_log_p(const torch::Tensor& log_p, const Copies& copies);

}  // namespace regard::kernels
