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
  return {{}, repeat_rows(constant_context(encoded), query.size(0)), {}};
}

}  // namespace regard
