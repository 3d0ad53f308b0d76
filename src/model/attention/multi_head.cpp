#include "model/attention/multi_head.h"

#include "config/check.h"
#include "kernels/scaled_dot_product.h"

namespace regard {

MultiHead::MultiHead(std::int64_t query_size, std::int64_t state_size,
                     const AttentionOptions& options, double dropout)
    : Attention({.is_distribution = true}),
      heads_(options.heads),
      dropout_(std::make_shared<Dropout>(dropout)) {
  const auto A = options.size;
  if (A % heads_ != 0) {
    throw OptionError("model.attention.heads",
                      ": found {}, expected a divisor of the width that the heads share, {} "
                      "(model.attention.size)",
                      heads_, A);
  }
  W_Q_ = register_module("W_Q", Linear(query_size, A));
  W_K_ = register_module("W_K", Linear(state_size, A));
  W_V_ = register_module("W_V", Linear(state_size, A));
  W_O_ = register_module("W_O", Linear(A, state_size));
  register_module("dropout", dropout_);
}

void MultiHead::prepare(EncoderOutput& encoded) {
  const auto keys = kernels::split_heads(W_K_(encoded.states), heads_).contiguous();
  const auto values = kernels::split_heads(W_V_(encoded.states), heads_).contiguous();
  encoded.context.set(this, {keys, values});
  encoded.set_bias(encoded.states);
}

kernels::HeadsOutput MultiHead::attend(const torch::Tensor& query, const EncoderOutput& encoded) {
  const auto& prepared = encoded.context.at(this);
  const auto q =
      kernels::split_heads(group_by_sentence(W_Q_(query), encoded), heads_);  // [B, H, G, d]
  return kernels::attend_by_head(q, prepared[0], prepared[1],
                                 encoded.attention_padding(encoded.states), /*causal=*/false,
                                 /*want_weights=*/true, dropout_->draw());
}

AttentionStep MultiHead::step(const torch::Tensor& query, const AttentionState& /*state*/,
                              const EncoderOutput& encoded) {
  const auto N = query.size(0);
  const auto attended = attend(query, encoded);
  return {attended.weights.reshape({N, -1}), W_O_(attended.y.view({N, -1})), {}};
}

AttentionDetail MultiHead::explain(const torch::Tensor& query, const AttentionState& /*state*/,
                                   const EncoderOutput& encoded) {
  return {.heads = {attend(query, encoded).heads.transpose(1, 2).flatten(0, 1)}};  // [N, H, S]
}

}  // namespace regard
