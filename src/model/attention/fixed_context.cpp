#include "model/attention/fixed_context.h"

#include "model/masked_mean.h"

namespace regard {

Memory NoAttention::prepare(const torch::Tensor& states, const torch::Tensor& mask,
                            const torch::Tensor& summary) {
  const auto c = q_ == FixedContext::last ? summary : masked_mean(states, mask);  // [B, C]
  return {.keys = {}, .values = c, .mask = mask, .summary = summary};
}

AttentionStep NoAttention::step(const torch::Tensor& /*query*/, const Memory& memory) {
  return {memory.values, {}};
}

}  // namespace regard
