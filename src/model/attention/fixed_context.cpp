#include "model/attention/fixed_context.h"

#include "model/masked_mean.h"

namespace regard {

void NoAttention::prepare(Memory& memory) {
  const auto c = q_ == FixedContext::last ? memory.summary  // [B, C]
                                          : masked_mean(memory.values, memory.mask);
  memory.values = c.unsqueeze(1);  // [B, 1, C]
}

AttentionStep NoAttention::step(const torch::Tensor& query, const Memory& memory) {
  const auto G = query.size(0) / memory.values.size(0);
  return {{}, memory.values.expand({-1, G, -1}).reshape({query.size(0), -1})};
}

}  // namespace regard
