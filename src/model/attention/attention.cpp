#include "model/attention/attention.h"

#include <limits>

namespace regard {

Memory ScoreAttention::prepare(const torch::Tensor& states, const torch::Tensor& mask,
                               const torch::Tensor& summary) {
  return {keys(states), states, mask, summary};
}

AttentionStep ScoreAttention::step(const torch::Tensor& query, const Memory& memory) {
  const auto e = score(query, memory.keys)
                     .masked_fill(memory.mask.logical_not(),
                                  -std::numeric_limits<double>::infinity());  // [B, S]
  const auto alpha = e.softmax(-1);                                           // [B, S]
  const auto context = alpha.unsqueeze(1).bmm(memory.values).squeeze(1);      // [B, C]
  return {context, alpha};
}

}  // namespace regard
