#include "model/attention/monotonic.h"

#include <numbers>

#include "kernels/functions.h"
#include "model/random_stream.h"

namespace regard {
namespace {

// Returns standard normal noise from the random stream of the model (Box and Muller 1958).
torch::Tensor noise_like(const torch::Tensor& x) {
  const auto radius =
      (-2 * RandomStream::uniform(x.numel(), x.options()).clamp_min(smallest_weight).log()).sqrt();
  const auto angle = 2 * std::numbers::pi * RandomStream::uniform(x.numel(), x.options());
  return (radius * angle.cos()).view_as(x);
}

// Returns q_s = Σ_{k ≤ s} α_k Π_{k ≤ l < s} (1 − p_l) for e [N, S] and the previous α [N, S].
// Computes all positions at once, and the products as sums of logarithms, which are not positive,
// so that exp() does not overflow.
torch::Tensor reach_probability(const torch::Tensor& e, const torch::Tensor& alpha) {
  const auto log_pass = torch::log_sigmoid(-e);
  const auto before = log_pass.cumsum(1) - log_pass;                // sum over l < s
  const auto log_path = before.unsqueeze(1) - before.unsqueeze(2);  // [N, k, s]
  const auto S = e.size(1);
  const auto back = torch::ones({S, S}, e.options().dtype(torch::kBool)).tril(-1);  // s < k
  const auto path = log_path.masked_fill(back, minus_infinity).exp();
  return alpha.unsqueeze(1).bmm(path).squeeze(1);
}

// Returns one-hot weights [N, S] of the first position with e ≥ 0, from the previous position on,
// which `last` [N, S] has as one-hot rows. All weights are 0 if there is none.
torch::Tensor first_stop(const torch::Tensor& e, const torch::Tensor& last) {
  const auto open = last.cumsum(1).gt(0).logical_and(e.ge(0));
  const auto first = open.logical_and(open.cumsum(1).eq(1));
  return first.to(e.scalar_type());
}

}  // namespace

Monotonic::Monotonic(std::int64_t query_size, std::int64_t state_size,
                     const AttentionOptions& options)
    : Attention({.is_mixture = true}),
      additive_(
          register_module("additive", std::make_shared<Additive>(query_size, state_size, options))),
      r_(register_parameter("r", torch::full({}, -1.0))) {}

AttentionState Monotonic::initial_state(const EncoderOutput& encoded) {
  return {first_position_weights(encoded)};
}

AttentionStep Monotonic::step(const torch::Tensor& query, const AttentionState& state,
                              const EncoderOutput& encoded) {
  auto e = additive_->scores(query, encoded) + r_;  // [N, S]
  const auto G = query.size(0) / encoded.mask.size(0);
  const auto of_sentences = encoded.padding.squeeze(1);  // [B, S]
  const auto padding = G == 1 ? of_sentences : of_sentences.repeat_interleave(G, 0);
  if (!is_training()) {
    const auto weights = first_stop(e.masked_fill(padding, minus_infinity), state[0]);
    const auto stopped = weights.sum(1, /*keepdim=*/true).gt(0);
    return {weights, {}, {torch::where(stopped, weights, state[0])}};
  }
  e = e + noise_like(e);
  const auto weights = (e.sigmoid() * reach_probability(e, state[0])).masked_fill(padding, 0);
  return {weights, {}, {weights}};
}

}  // namespace regard
