#include "model/attention/coverage.h"

#include "kernels/functions.h"
#include "model/initialisation.h"

namespace regard {

Coverage::Coverage(std::int64_t query_size, std::int64_t state_size,
                   const AttentionOptions& options)
    : Attention({.is_mixture = true, .is_distribution = true}),
      N_(options.fertility),
      lambda_(options.coverage_loss) {
  additive_ =
      register_module("additive", std::make_shared<Additive>(query_size, state_size, options));
  fertility_ = register_module("fertility", Linear(state_size, 1));
  w_ = register_parameter("w", uniform_vector(options.size));
}

AttentionState Coverage::initial_state(const EncoderOutput& encoded) {
  const auto phi = N_ * kernels::sigmoid(fertility_(encoded.states).squeeze(-1));  // [B, S]
  return {torch::zeros_like(phi), phi.reciprocal()};
}

kernels::AttentionScore Coverage::score_with_coverage(const torch::Tensor& coverage,
                                                      const EncoderOutput& encoded) const {
  return kernels::with_coverage(additive_->score(encoded), coverage, w_);
}

AttentionDetail Coverage::explain(const torch::Tensor& query, const AttentionState& state,
                                  const EncoderOutput& encoded) {
  const auto score = score_with_coverage(state[0], encoded);
  // [B, G, D], or [N, 1, D] if each query has keys of its own
  const auto queries = query.view({score.keys.size(0), -1, query.size(1)});
  return {.scores = kernels::attention_scores(score, queries).flatten(0, 1)};
}

AttentionStep Coverage::step(const torch::Tensor& query, const AttentionState& state,
                             const EncoderOutput& encoded) {
  const auto& coverage = state[0];           // [N, S]
  const auto& inverse_fertility = state[1];  // 1 / Φ [N, S]
  const auto weights = kernels::attention_weights(score_with_coverage(coverage, encoded), query);
  AttentionStep step{weights, {}, {coverage + weights * inverse_fertility, inverse_fertility}};
  if (is_training() && lambda_ > 0) {
    step.loss.penalty = lambda_ * torch::minimum(weights, coverage / inverse_fertility).sum(1);
  }
  return step;
}

}  // namespace regard
