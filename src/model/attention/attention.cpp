#include "model/attention/attention.h"

#include "kernels/functions.h"

namespace regard {

torch::Tensor by_sentence(const torch::Tensor& queries, const Memory& memory) {
  return queries.view({memory.keys.size(0), -1, queries.size(1)});
}

torch::Tensor at_first_position(const Memory& memory) {
  auto first = torch::zeros_like(memory.mask, memory.values.options());
  first.select(1, 0).fill_(1);
  return first;
}

torch::Tensor log_weights(const torch::Tensor& weights) {
  return kernels::log(weights.clamp_min(smallest_weight));
}

torch::Tensor ScoreAttention::score(const torch::Tensor& queries, const Memory& memory) {
  return kernels::attention_scores(kernel_score(memory).value(), queries);
}

torch::Tensor ScoreAttention::weights(const torch::Tensor& query, const Memory& memory,
                                      const torch::Tensor& windows) {
  if (auto in_kernel = kernel_score(memory)) {
    in_kernel->windows = windows;
    return kernels::attention_weights(*in_kernel, query);
  }
  const auto e = score(by_sentence(query, memory), memory);
  return kernels::masked_softmax(e, memory.lengths, windows).view({query.size(0), -1});
}

torch::Tensor ScoreAttention::scores(const torch::Tensor& query, const AttentionState& /*state*/,
                                     const Memory& memory) {
  return score(by_sentence(query, memory), memory).view({query.size(0), -1});
}

}  // namespace regard
