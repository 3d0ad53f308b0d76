#include "model/attention/fixed_context.h"

#include "kernels/attention.h"

namespace regard {

void NoAttention::prepare(Memory& memory) {
  memory.context = q_ == FixedContext::last ? memory.summary  // [B, C]
                                            : kernels::masked_mean(memory.values, memory.mask);
}

AttentionStep NoAttention::step(const torch::Tensor& query, const AttentionState& /*state*/,
                                const Memory& memory) {
  const auto N = query.size(0);
  const auto B = memory.context.size(0);
  return {{}, memory.context.unsqueeze(1).expand({B, N / B, -1}).reshape({N, -1}), {}};
}

}  // namespace regard
