#include "model/attention/location_aware.h"

#include "config/check.h"

namespace regard {

LocationAware::LocationAware(std::int64_t query_size, std::int64_t state_size,
                             const AttentionOptions& options)
    : Attention({.is_mixture = true, .is_distribution = true}), width_(options.filter_width) {
  if (width_ % 2 == 0) {
    throw OptionError("model.attention.filter_width",
                      ": found {}, expected an odd number, so that a filter has a centre", width_);
  }
  additive_ =
      register_module("additive", std::make_shared<Additive>(query_size, state_size, options));
  F_ = register_module("F", Linear(width_, options.filters, false));
  U_ = register_module("U", Linear(options.filters, options.size, false));
}

AttentionState LocationAware::initial_state(const EncoderOutput& encoded) {
  return {first_position_weights(encoded)};
}

kernels::AttentionScore LocationAware::score_after(const torch::Tensor& alpha,
                                                   const EncoderOutput& encoded) {
  const auto half = width_ / 2;
  const auto around = torch::constant_pad_nd(alpha, {half, half}).unfold(1, width_, 1);
  const auto f = F_(around.contiguous());  // [N, S, k]
  auto score = kernels::repeat_for_queries(additive_->score(encoded), alpha.size(0));
  score.keys = score.keys + U_(f);  // [N, S, A]
  return score;
}

AttentionStep LocationAware::step(const torch::Tensor& query, const AttentionState& state,
                                  const EncoderOutput& encoded) {
  const auto weights = kernels::attention_weights(score_after(state[0], encoded), query);
  return {weights, {}, {weights}};
}

AttentionDetail LocationAware::explain(const torch::Tensor& query, const AttentionState& state,
                                       const EncoderOutput& encoded) {
  const auto score = score_after(state[0], encoded);
  return {.scores = kernels::attention_scores(score, query.unsqueeze(1)).flatten(0, 1)};
}

}  // namespace regard
