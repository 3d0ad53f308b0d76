#include "model/attention/local.h"

#include "kernels/functions.h"
#include "kernels/linear.h"
#include "model/attention/table.h"
#include "model/initialisation.h"

namespace regard {
namespace {

// Returns the lengths [B, 1, 1] on the device of the states.
torch::Tensor lengths_of(const EncoderOutput& encoded) {
  return encoded.lengths_on_device.view({-1, 1, 1});
}

}  // namespace

Local::Local(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options,
             bool is_distribution)
    : Attention({.is_mixture = true, .is_distribution = is_distribution}),
      half_window_(static_cast<double>(options.window)),
      content_(register_module("content", make_content_score(query_size, state_size, options))) {}

AttentionStep Local::step(const torch::Tensor& query, const AttentionState& state,
                          const EncoderOutput& encoded) {
  const auto S = encoded.states.size(1);
  const auto queries = group_by_sentence(query, encoded);  // [B, G, D]
  const auto lengths = lengths_of(encoded);
  const auto p = centre(queries, state, lengths);  // [B, G, 1]
  const auto alpha = content_->weights(query, encoded, window(p, lengths));
  const auto distance = torch::arange(S, queries.options()) - p;  // [B, G, S]
  const auto weights = shape_weights(alpha.view_as(distance), distance);
  return {weights.view({query.size(0), S}), {}, next_state(state)};
}

torch::Tensor Local::window(const torch::Tensor& p, const torch::Tensor& lengths) const {
  const auto first = (p.detach() - half_window_).ceil().to(torch::kLong);
  const auto last = (p.detach() + half_window_).floor().to(torch::kLong);
  // Each window has at least one position inside the sentence, even if p is NaN.
  const auto begin = torch::minimum(first, lengths - 1).clamp_min(0);
  const auto end = torch::maximum(torch::minimum(last + 1, lengths), begin + 1);
  return torch::cat({begin, end}, 2).view({-1, 2});
}

AttentionDetail Local::explain(const torch::Tensor& query, const AttentionState& state,
                               const EncoderOutput& encoded) {
  auto detail = content_->explain(query, {}, encoded);
  const auto lengths = lengths_of(encoded);
  const auto p = centre(group_by_sentence(query, encoded), state, lengths);
  detail.quantities = {{"p_t", torch::minimum(p, lengths - 1).view({-1, 1}) + 1}};
  return detail;
}

AttentionState LocalM::initial_state(const EncoderOutput& encoded) {
  return {encoded.states.new_zeros({encoded.states.size(0)})};
}

std::optional<AttentionStep> LocalM::all_steps(const torch::Tensor& queries,
                                               const AttentionState& /*first*/,
                                               const EncoderOutput& encoded) {
  const auto B = encoded.states.size(0);
  const auto T = queries.size(0) / B;
  return step(queries, {torch::arange(T, encoded.states.options()).repeat({B})}, encoded);
}

torch::Tensor LocalM::centre(const torch::Tensor& queries, const AttentionState& state,
                             const torch::Tensor& lengths) {
  return torch::minimum(state[0].view({queries.size(0), -1, 1}), lengths - 1);
}

LocalP::LocalP(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : Local(query_size, state_size, options, /*is_distribution=*/false) {
  W_p_ = register_module("W_p", Linear(query_size, query_size, false));
  v_p_ = register_parameter("v_p", uniform_vector(query_size));
}

torch::Tensor LocalP::centre(const torch::Tensor& queries, const AttentionState& /*state*/,
                             const torch::Tensor& lengths) {
  const auto e = kernels::product_with_vector(kernels::tanh(W_p_(queries)), v_p_);  // [B, G]
  return lengths * kernels::sigmoid(e).unsqueeze(-1);
}

torch::Tensor LocalP::shape_weights(const torch::Tensor& weights, const torch::Tensor& distance) {
  const double sigma = half_window_ / 2;
  return weights * kernels::exp(distance.square() / (-2 * sigma * sigma));
}

}  // namespace regard
