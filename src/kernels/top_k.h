// The most probable of all V tokens, without the probabilities of the others.
#pragma once

#include <torch/types.h>

namespace regard::kernels {

struct TopK {
  torch::Tensor log_p;    // [N, k], falling
  torch::Tensor indices;  // [N, k] int64; of equals the lower first on the CPU
};

// logits [N, V] -> the k greatest log softmax(logits); k at most V. Not differentiable on the CPU.
TopK top_log_probabilities(const torch::Tensor& logits, std::int64_t k);

// The same from LibTorch's operations, on any device.
TopK top_log_probabilities_composite(const torch::Tensor& logits, std::int64_t k);

}  // namespace regard::kernels
