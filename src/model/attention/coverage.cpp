#include "model/attention/coverage.h"

#include "kernels/functions.h"
#include "kernels/packed_weights.h"
#include "model/initialisation.h"

namespace regard {

Coverage::Coverage(std::int64_t query_size, std::int64_t state_size,
                   const AttentionOptions& options)
    : N_(options.fertility), lambda_(options.coverage_loss) {
  additive_ =
      register_module("additive", std::make_shared<Additive>(query_size, state_size, options));
  fertility_ = register_module("fertility", Linear(state_size, 1));
  w_ = register_parameter("w", score_vector(options.size));
}

AttentionState Coverage::start(const Memory& memory) {
  const auto phi = N_ * kernels::sigmoid(fertility_(memory.values).squeeze(-1));  // [B, S]
  return {torch::zeros_like(phi), phi.reciprocal()};
}

Memory Coverage::covered(const Memory& memory, const torch::Tensor& coverage) const {
  const auto G = coverage.size(0) / memory.keys.size(0);
  Memory covered;
  const auto keys = G == 1 ? memory.keys : memory.keys.repeat_interleave(G, 0);
  covered.keys = torch::addcmul(keys, coverage.unsqueeze(-1), w_);  // [N, S, A]
  covered.lengths = memory.lengths.repeat_interleave(G);
  return covered;
}

kernels::AttentionScore Coverage::score_in_search(const Memory& memory,
                                                  const torch::Tensor& coverage) const {
  auto score = additive_->kernel_score(memory).value();
  score.coverage = coverage;
  score.w = w_;
  return score;
}

torch::Tensor Coverage::scores(const torch::Tensor& query, const AttentionState& state,
                               const Memory& memory) {
  if (kernels::is_batch_invariant(query)) {
    return kernels::attention_scores(score_in_search(memory, state[0]), by_sentence(query, memory))
        .flatten(0, 1);
  }
  return additive_->scores(query, {}, covered(memory, state[0]));
}

AttentionStep Coverage::step(const torch::Tensor& query, const AttentionState& state,
                             const Memory& memory) {
  const auto& coverage = state[0];  // [N, S]
  const auto& per_look = state[1];  // 1 / Phi, [N, S]
  const auto weights = kernels::is_batch_invariant(query)
                           ? kernels::attention_weights(score_in_search(memory, coverage), query)
                           : additive_->step(query, {}, covered(memory, coverage)).weights;
  AttentionStep step{weights, {}, {coverage + weights * per_look, per_look}};
  if (is_training() && lambda_ > 0) {
    step.loss.penalty = lambda_ * torch::minimum(weights, coverage / per_look).sum(1);
  }
  return step;
}

}  // namespace regard
