#include "model/attention/ntm.h"

#include <torch/utils.h>

#include "kernels/functions.h"
#include "model/attention/scores.h"

namespace regard {
namespace {

// Returns w [N, S] shifted right by j, modulo the length of each sentence. lengths [B] is on the
// device of w.
torch::Tensor shift_right(const torch::Tensor& w, std::int64_t j, const torch::Tensor& lengths) {
  const auto [B, S] = std::pair(lengths.size(0), w.size(1));
  const auto from = torch::arange(-j, S - j, lengths.options()).remainder(lengths.unsqueeze(1));
  const auto grouped = w.view({B, -1, S});
  return grouped.gather(2, from.unsqueeze(1).expand_as(grouped)).view_as(w);
}

}  // namespace

Ntm::Ntm(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : Attention({.is_mixture = true, .is_distribution = true}), K_(options.shift) {
  W_k_ = register_module("W_k", Linear(query_size, state_size, false));
  W_ = register_module("W", Linear(query_size, 3 + 2 * K_ + 1));
  const torch::NoGradGuard guard;
  W_->bias[0] = initial_sharpness_bias();  // of β
}

void Ntm::prepare(EncoderOutput& encoded) {
  encoded.context.set(this, {normalised(encoded.states)});
}

AttentionState Ntm::initial_state(const EncoderOutput& encoded) {
  return {first_position_weights(encoded)};
}

Ntm::Addressing Ntm::addressing(const torch::Tensor& query) {
  const auto parts = W_(query).split_with_sizes({1, 1, 1, 2 * K_ + 1}, 1);  // of β, g, γ, s
  return {kernels::softplus(parts[0]), kernels::sigmoid(parts[1]), kernels::softmax(parts[3]),
          1 + kernels::softplus(parts[2])};
}

torch::Tensor Ntm::content_scores(const torch::Tensor& query, const torch::Tensor& beta,
                                  const EncoderOutput& encoded) {
  const auto k = group_by_sentence(normalised(W_k_(query)), encoded);  // [B, G, C]
  const kernels::AttentionScore cosine{.form = kernels::ScoreForm::dot,
                                       .keys = encoded.context.at(this)[0],
                                       .lengths = encoded.lengths,
                                       .padding = encoded.padding};
  return beta * kernels::attention_scores(cosine, k).flatten(0, 1);
}

AttentionDetail Ntm::explain(const torch::Tensor& query, const AttentionState& /*state*/,
                             const EncoderOutput& encoded) {
  const auto [beta, g, s, gamma] = addressing(query);
  return {.scores = content_scores(query, beta, encoded),
          .quantities = {{"β", beta}, {"g", g}, {"s", s}, {"γ", gamma}}};
}

AttentionStep Ntm::step(const torch::Tensor& query, const AttentionState& state,
                        const EncoderOutput& encoded) {
  const auto [N, S] = std::pair(query.size(0), encoded.states.size(1));
  const auto [beta, g, s, gamma] = addressing(query);
  const auto softmax = [&](const torch::Tensor& e) {  // [N, S]
    return kernels::masked_softmax(e.view({encoded.states.size(0), -1, S}), encoded.lengths,
                                   /*windows=*/{}, encoded.padding)
        .view({N, S});
  };

  const auto content = softmax(content_scores(query, beta, encoded));
  const auto gated = g * content + (1 - g) * state[0];
  const auto& lengths = encoded.lengths_on_device;
  torch::Tensor shifted;
  for (std::int64_t j = -K_; j <= K_; ++j) {
    const auto part = s.narrow(1, j + K_, 1) * shift_right(gated, j, lengths);
    shifted = shifted.defined() ? shifted + part : part;
  }
  const auto weights = softmax(gamma * log_weights(shifted));  // w~^γ / Σ w~^γ
  return {weights, {}, {weights}};
}

}  // namespace regard
