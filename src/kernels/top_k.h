// The k most probable of V tokens, without a softmax over all.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

struct TopK {
  torch::Tensor log_p;    // [N, k], descending
  torch::Tensor indices;  // [N, k] int64; on the CPU, lower indices first among equals
};

// logits [N, V] -> the k largest log softmax(logits), k ≤ V. Not differentiable on the CPU.
TopK top_log_probabilities(const torch::Tensor& logits, std::int64_t k);

// Reference implementation: LibTorch's operations, on any device.
TopK top_log_probabilities_reference(const torch::Tensor& logits, std::int64_t k);

}  // namespace regard::kernels
