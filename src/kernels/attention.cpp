#include "kernels/attention.h"

#include <limits>

#include "kernels/fused.h"

namespace regard::kernels {

torch::Tensor attention_weights(const AttentionScore& score, const torch::Tensor& states) {
  if (torch::GradMode::is_enabled() || !is_fused_on(states)) {
    return attention_weights_composite(score, states);
  }
  const auto N = states.size(0);
  const auto B = score.keys.size(0);
  AttentionScore a = score;
  a.keys = score.keys.contiguous();
  if (a.v.defined()) a.v = score.v.contiguous();
  const auto q = (a.form == ScoreForm::additive ? torch::linear(states, a.W) : states).contiguous();
  auto weights = torch::empty({N, a.keys.size(1)}, states.options());
  AT_DISPATCH_FLOATING_TYPES(states.scalar_type(), "attention_weights", [&] {
    weigh<scalar_t>(a.rows<scalar_t>(), N / B, {q.const_data_ptr<scalar_t>(), q.size(1)},
                    weights.mutable_data_ptr<scalar_t>());
  });
  return weights;
}

torch::Tensor attention_weights_composite(const AttentionScore& score,
                                          const torch::Tensor& states) {
  const auto B = score.keys.size(0);
  const auto S = score.keys.size(1);
  const auto s = states.view({B, -1, states.size(1)});  // [B, G, D]
  const auto e = score.form == ScoreForm::additive
                     ? (score.keys.unsqueeze(1) + torch::linear(s, score.W).unsqueeze(2))
                           .tanh()
                           .matmul(score.v)
                     : s.bmm(score.keys.transpose(1, 2)) * score.scale;  // [B, G, S]
  const auto lengths = score.lengths.to(states.device()).view({B, 1, 1});
  const auto padding = torch::arange(S, lengths.options()) >= lengths;  // [B, 1, S]
  return e.masked_fill(padding, -std::numeric_limits<double>::infinity())
      .softmax(-1)
      .view({states.size(0), S});
}

}  // namespace regard::kernels
