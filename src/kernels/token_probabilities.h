// Log-probabilities of tokens in decoding: the most probable tokens, given tokens, and the mixture
// of a pointer-generator.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace regard::kernels {

// The k most probable of V tokens.
struct TopK {
  torch::Tensor log_p;    // [N, k], descending
  torch::Tensor indices;  // [N, k] int64; on the CPU, lower indices first among equals
};

// logits [N, V] -> the k largest log softmax(logits), k ≤ V, without a softmax over all tokens. Not
// differentiable on the CPU.
TopK top_log_probabilities(const torch::Tensor& logits, std::int64_t k);

// Reference implementation: LibTorch's operations, on any device.
TopK top_log_probabilities_reference(const torch::Tensor& logits, std::int64_t k);

// log softmax(W row + b) of one token per row: rows [N, R], W [V, R], b [V], targets [N] int64 ->
// [N]. Holds the logits of a few rows at a time. Not differentiable. If packed weights are in use
// (packed_weights.h), has the bits of log_softmax(linear()).
torch::Tensor target_log_probabilities(const torch::Tensor& rows, const torch::Tensor& W,
                                       const torch::Tensor& b, const torch::Tensor& targets);

// Selects columns of logits by sentence: logits [N, U], columns [B, K] int64 on the same device ->
// [N, K], −∞ for column −1. N = G · B, with G consecutive rows per sentence.
torch::Tensor select_columns(const torch::Tensor& logits, const torch::Tensor& columns);
// Reference implementation: LibTorch's operations, on any device.
torch::Tensor select_columns_reference(const torch::Tensor& logits, const torch::Tensor& columns);

// The probabilities of a pointer-generator (model/output/copy_output.h) in a search on the CPU:
//
//   log P(y) = log(σ(g) P_vocabulary(y) + σ(−g) Σ_{s: x_s = y} α_s)
//
// For a word that is not in the source, the last sum is 0, and log P(y) = log σ(g) + log
// P_vocabulary(y).
//
// log_p [B, G, V] of the vocabulary, gate g [B, G, 1], weights α [B, G, S], ids x [B, S] int64 of
// the source words, each below `width`, of which lengths [B] are real -> log P [B, G, width]. Ids
// from V on are words outside the vocabulary (copy_output.h). log P is −∞ for those that a sentence
// does not have; for the others, the sum of weights is at least the smallest normal float. Not
// differentiable. Batch-invariant.
torch::Tensor copy_mixture(const torch::Tensor& log_p, const torch::Tensor& gate,
                           const torch::Tensor& weights, const torch::Tensor& ids,
                           const torch::Tensor& lengths, std::int64_t width);

}  // namespace regard::kernels
