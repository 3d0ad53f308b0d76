// The probabilities of a pointer-generator (model/output/copy_output.h) in a search on the CPU:
//
//   log P(y) = log(σ(g) P_vocabulary(y) + σ(−g) Σ_{s: x_s = y} α_s)
//
// Only words of the source are computed one by one, as copying changes no other's.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace regard::kernels {

// log_p [B, G, V] of the vocabulary, gate g [B, G, 1], weights α [B, G, S], ids x [B, S] int64,
// below `width`, of which the first lengths [B] count -> log P [B, G, width], −∞ for what cannot be
// said. A word behind the vocabulary that has lost all weight has the least that a float holds.
// Without gradient; each row is computed by itself.
torch::Tensor copy_mixture(const torch::Tensor& log_p, const torch::Tensor& gate,
                           const torch::Tensor& weights, const torch::Tensor& ids,
                           const torch::Tensor& lengths, std::int64_t width);

}  // namespace regard::kernels
