#include "model/attention/attention.h"

#include <limits>

namespace regard {

torch::Tensor mix(const torch::Tensor& weights, const torch::Tensor& values) {
  const auto B = values.size(0);
  const auto S = values.size(1);
  return weights.view({B, -1, S}).bmm(values).view({weights.size(0), -1});
}

AttentionStep ScoreAttention::step(const torch::Tensor& query, const Memory& memory) {
  if (!torch::GradMode::is_enabled()) {
    if (const auto in_kernel = kernel_score(memory)) {
      return {kernels::attention_weights(*in_kernel, query), {}};
    }
  }
  const auto queries = query.view({memory.keys.size(0), -1, query.size(1)});  // [B, G, D]
  const auto e = score(queries, memory.keys)
                     .masked_fill(memory.mask.logical_not().unsqueeze(1),
                                  -std::numeric_limits<double>::infinity());  // [B, G, S]
  return {e.softmax(-1).view({query.size(0), -1}), {}};
}

}  // namespace regard
