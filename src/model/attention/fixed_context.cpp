#include "model/attention/fixed_context.h"

#include "kernels/attention.h"

namespace regard {

void NoAttention::prepare(EncoderOutput& encoded) {
  if (!traits().has_context) return;
  encoded.context.set(this, {fixed_context_ == FixedContext::last
                                 ? encoded.summary
                                 : kernels::masked_mean(encoded.states, encoded.mask)});
}

AttentionStep NoAttention::step(const torch::Tensor& query, const AttentionState& /*state*/,
                                const EncoderOutput& encoded) {
  if (!traits().has_context) return {};
  const auto& context = encoded.context.at(this)[0];  // [B, C]
  const auto N = query.size(0);
  const auto B = context.size(0);
  return {{}, context.unsqueeze(1).expand({B, N / B, -1}).reshape({N, -1}), {}};
}

}  // namespace regard
