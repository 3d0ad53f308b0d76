#include "model/attention/hard.h"

#include <algorithm>
#include <limits>

#include "model/attention/table.h"
#include "model/random_stream.h"

namespace regard {
namespace {

// Returns one-hot rows: positions [N] -> [N, S], the shape of `like`.
torch::Tensor one_hot(const torch::Tensor& positions, const torch::Tensor& like) {
  return torch::zeros_like(like).scatter_(1, positions.unsqueeze(1), 1);
}

}  // namespace

Hard::Hard(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : Attention({.is_mixture = true, .is_distribution = true, .is_hard = true}),
      estimator_(options.estimator),
      tau_(options.temperature),
      lambda_r_(options.reward),
      lambda_e_(options.entropy),
      anneal_steps_(options.anneal_steps),
      content_(register_module("content", make_content_score(query_size, state_size, options))) {
  set_training_step(1);
}

void Hard::set_training_step(std::int64_t step) {
  soft_fraction_ =
      anneal_steps_ == 0
          ? 0
          : std::max(0.0, 1 - static_cast<double>(step - 1) / static_cast<double>(anneal_steps_));
}

AttentionState Hard::initial_state(const EncoderOutput& encoded) {
  if (!is_training() || soft_fraction_ == 0) return {};
  return {RandomStream::uniform(encoded.states.size(0), encoded.states.options())
              .lt(soft_fraction_)
              .unsqueeze(1)};
}

AttentionStep Hard::step(const torch::Tensor& query, const AttentionState& state,
                         const EncoderOutput& encoded) {
  const auto alpha = content_->weights(query, encoded);  // [N, S]
  if (!is_training()) return {one_hot(alpha.argmax(1), alpha), {}, {}};
  auto step =
      estimator_ == HardEstimator::gumbel ? straight_through_step(alpha) : reinforce_step(alpha);
  if (!state.empty()) {
    const auto& soft = state[0];  // [N, 1]
    step.weights = torch::where(soft, alpha, step.weights);
    if (step.loss.sampled_log_p.defined()) {
      step.loss.sampled_log_p = step.loss.sampled_log_p.masked_fill(soft.squeeze(1), 0);
    }
  }
  step.state = state;
  return step;
}

AttentionStep Hard::reinforce_step(const torch::Tensor& alpha) const {
  const auto u = RandomStream::uniform(alpha.size(0), alpha.options()).unsqueeze(1);
  const auto sampled = alpha.detach().cumsum(1).le(u).sum(1);  // inverse transform
  const auto positions = torch::arange(alpha.size(1), sampled.options());
  // The last position with a weight above 0: `sampled` may exceed it by rounding.
  const auto last = std::get<0>(alpha.detach().gt(0).mul(positions).max(1));
  const auto drawn = torch::minimum(sampled, last);
  AttentionStep step{one_hot(drawn, alpha), {}, {}};
  const auto log_alpha = log_weights(alpha);
  step.loss.sampled_log_p = lambda_r_ * log_alpha.gather(1, drawn.unsqueeze(1)).squeeze(1);
  if (lambda_e_ > 0) step.loss.penalty = lambda_e_ * (alpha * log_alpha).sum(1);
  return step;
}

AttentionStep Hard::straight_through_step(const torch::Tensor& alpha) const {
  const auto u = RandomStream::uniform(alpha.numel(), alpha.options()).view_as(alpha);
  // −log(−log u) is infinite for u = 0 and for u = 1.
  const auto gumbel = -(-u.clamp(smallest_weight, 1 - 1e-7).log()).log();
  const auto noisy = (log_weights(alpha) + gumbel)
                         .masked_fill(alpha.eq(0), -std::numeric_limits<double>::infinity());
  const auto relaxed = (noisy / tau_).softmax(1);
  const auto chosen = one_hot(relaxed.argmax(1), alpha);
  // The value of `chosen` with the gradient of `relaxed`.
  return {chosen + relaxed - relaxed.detach(), {}, {}};
}

}  // namespace regard
