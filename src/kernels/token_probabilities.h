// Log-probabilities of tokens in decoding: the most probable tokens, and given tokens.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace regard::kernels {

// The k most probable of V tokens, on the CPU.
struct TopK {
  torch::Tensor log_p;    // [N, k], descending
  torch::Tensor indices;  // [N, k] int64; of logits on the CPU, lower indices first among equals
};

// logits [N, V] -> the k largest log softmax(logits), k ≤ V; on the CPU without a softmax over all
// tokens. Waits once for another device. Not differentiable.
TopK top_log_probabilities(const torch::Tensor& logits, std::int64_t k);

// The same for logits on another device, in two parts: computes the result as a block of bytes on
// the device, and takes it apart after it was copied to the CPU. Neither waits.
torch::Tensor top_log_probabilities_block(const torch::Tensor& logits, std::int64_t k);
TopK top_of_block(const torch::Tensor& block, std::int64_t N, std::int64_t k,
                  torch::ScalarType type);

// Reference implementation: LibTorch's operations, on any device.
TopK top_log_probabilities_reference(const torch::Tensor& logits, std::int64_t k);

// log softmax(W row + b) of one token per row: rows [N, R], W [V, R], b [V], targets [N] int64 ->
// [N]. Holds the logits of a few rows at a time. Not differentiable. In a search (mode.h), has the
// bits of log_softmax(linear()).
torch::Tensor target_log_probabilities(const torch::Tensor& rows, const torch::Tensor& W,
                                       const torch::Tensor& b, const torch::Tensor& targets);

// Selects columns of logits by sentence: logits [N, U], columns [B, K] int64 on the same device ->
// [N, K], −∞ for column −1. N = G · B, with G consecutive rows per sentence.
torch::Tensor select_columns(const torch::Tensor& logits, const torch::Tensor& columns);
// Reference implementation: LibTorch's operations, on any device.
torch::Tensor select_columns_reference(const torch::Tensor& logits, const torch::Tensor& columns);

}  // namespace regard::kernels
