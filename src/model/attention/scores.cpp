#include "model/attention/scores.h"

#include <cmath>

#include "base/error.h"
#include "base/strings.h"
#include "config/check.h"
#include "kernels/functions.h"
#include "kernels/linear.h"
#include "model/initialisation.h"

namespace regard {

using kernels::AttentionScore;
using kernels::ScoreForm;
using torch::Tensor;

Additive::Additive(std::int64_t query_size, std::int64_t state_size,
                   const AttentionOptions& options) {
  const auto A = options.size;
  W_ = register_module("W", Linear(query_size, A, false));
  U_ = register_module("U", Linear(state_size, A));
  v_ = register_parameter("v", uniform_vector(A));
}

Tensor Additive::keys(const Tensor& states) {
  return U_(states);
}

AttentionScore Additive::score_parameters(const Tensor& /*keys*/) {
  return {.form = ScoreForm::additive, .W = W_->weight, .v = v_};
}

Concat::Concat(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : query_size_(query_size) {
  const auto A = options.size;
  W_ = register_parameter("W", torch::empty({A, query_size + state_size}));
  xavier_uniform(W_);
  v_ = register_parameter("v", uniform_vector(A));
}

Tensor Concat::keys(const Tensor& states) {
  return kernels::linear(states, W_.slice(1, query_size_));
}

AttentionScore Concat::score_parameters(const Tensor& /*keys*/) {
  return {.form = ScoreForm::additive, .W = W_.slice(1, 0, query_size_), .v = v_};
}

KeyProjection::KeyProjection(torch::nn::Module& owner, std::int64_t query_size,
                             std::int64_t state_size, const AttentionOptions& options) {
  const bool differ = query_size != state_size;
  if (options.project_keys == ProjectKeys::yes ||
      (options.project_keys == ProjectKeys::automatic && differ)) {
    K_ = owner.register_module("K", Linear(state_size, query_size, false));
  } else if (differ) {
    // make_content_score() sets the kind to the score of another attention.
    const bool is_inner = options.score == options.kind;
    throw OptionError(
        is_inner ? "model.attention.score" : "model.attention.kind",
        ": {} compares the decoder's state with the encoder's, but they are {} and {} wide "
        "(model.decoder.hidden_size, and model.encoder.hidden_size, doubled if bidirectional). "
        "Make them equal, or set model.attention.project_keys to auto or true",
        enum_name(options.kind), query_size, state_size);
  }
}

Tensor KeyProjection::operator()(const Tensor& states) {
  return K_.is_empty() ? states : K_(states);
}

Dot::Dot(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options,
         double scale)
    : scale_(scale), projection_(*this, query_size, state_size, options) {}

Tensor Dot::keys(const Tensor& states) {
  return projection_(states);
}

AttentionScore Dot::score_parameters(const Tensor& /*keys*/) {
  return {.form = ScoreForm::dot, .scale = scale_};
}

ScaledDot::ScaledDot(std::int64_t query_size, std::int64_t state_size,
                     const AttentionOptions& options)
    : Dot(query_size, state_size, options, 1 / std::sqrt(static_cast<double>(query_size))) {}

General::General(std::int64_t query_size, std::int64_t state_size,
                 const AttentionOptions& /*options*/)
    : W_(register_module("W", Linear(state_size, query_size, false))) {}

Tensor General::keys(const Tensor& states) {
  return W_(states);
}

AttentionScore General::score_parameters(const Tensor& /*keys*/) {
  return {.form = ScoreForm::dot};
}

Cosine::Cosine(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : sharpness_(options.sharpness), projection_(*this, query_size, state_size, options) {
  if (sharpness_ == Sharpness::learned) {
    b_ = register_parameter("b", torch::full({}, initial_sharpness_bias()));
  } else if (sharpness_ == Sharpness::step) {
    of_step_ = register_module("of_step", Linear(query_size, 1));
    const torch::NoGradGuard guard;
    of_step_->bias.fill_(initial_sharpness_bias());
  }
}

Tensor Cosine::keys(const Tensor& states) {
  const auto unit = normalised(projection_(states));
  return sharpness_ == Sharpness::learned ? kernels::softplus(b_) * unit : unit;
}

AttentionScore Cosine::score_parameters(const Tensor& /*keys*/) {
  return {.form = sharpness_ == Sharpness::step ? ScoreForm::dot : ScoreForm::cosine};
}

Tensor Cosine::transformed(const Tensor& queries) {
  if (!transforms_queries()) return queries;
  return kernels::softplus(of_step_(queries)) * normalised(queries);
}

double initial_sharpness_bias() {
  return std::log(std::expm1(8.0));
}

Tensor normalised(const Tensor& x) {
  return kernels::unit(x, kernels::smallest_norm);
}

Location::Location(std::int64_t query_size, std::int64_t /*state_size*/,
                   const AttentionOptions& options)
    : max_positions_(options.max_positions),
      W_(register_parameter("W", torch::empty({max_positions_, query_size}))) {
  xavier_uniform(W_);
}

Tensor Location::keys(const Tensor& states) {
  const auto S = states.size(1);
  if (S > max_positions_) {
    throw InputError(
        "a source of {} is longer than location attention supports (model.attention.max_positions: "
        "{}); shorten it, or train with more positions",
        counted(S, "token"), max_positions_);
  }
  return states.narrow(2, 0, 0);
}

AttentionScore Location::score_parameters(const Tensor& keys) {
  return kernels::position_score(W_, keys.size(1));
}

}  // namespace regard
