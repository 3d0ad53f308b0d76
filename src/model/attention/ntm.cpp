#include "model/attention/ntm.h"

#include <torch/utils.h>

#include "model/attention/sharpness.h"

namespace regard {
namespace {

// w [N, S] moved right by j, in a circle of each sentence's length: lengths [B] on the device.
torch::Tensor shifted(const torch::Tensor& w, std::int64_t j, const torch::Tensor& lengths) {
  const auto [B, S] = std::pair(lengths.size(0), w.size(1));
  const auto from = torch::arange(-j, S - j, lengths.options()).remainder(lengths.unsqueeze(1));
  const auto by_sentence = w.view({B, -1, S});
  return by_sentence.gather(2, from.unsqueeze(1).expand_as(by_sentence)).view_as(w);
}

}  // namespace

Ntm::Ntm(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : K_(options.shift) {
  W_k_ = register_module("W_k", Linear(query_size, state_size, false));
  W_ = register_module("W", Linear(query_size, 3 + 2 * K_ + 1));
  const torch::NoGradGuard guard;
  W_->bias[0] = first_sharpness();
}

void Ntm::prepare(Memory& memory) {
  memory.keys = normalised(memory.values);
}

AttentionState Ntm::start(const Memory& memory) {
  return {at_first_position(memory)};
}

Ntm::Said Ntm::said_by(const torch::Tensor& query) {
  const auto parts = W_(query).split_with_sizes({1, 1, 1, 2 * K_ + 1}, 1);
  return {kernels::softplus(parts[0]), kernels::sigmoid(parts[1]), kernels::softmax(parts[3]),
          1 + kernels::softplus(parts[2])};
}

NamedNumbers Ntm::numbers(const torch::Tensor& query, const AttentionState& /*state*/,
                          const Memory& /*memory*/) {
  const auto [beta, g, s, gamma] = said_by(query);
  return {{"β", beta}, {"g", g}, {"s", s}, {"γ", gamma}};
}

torch::Tensor Ntm::content_scores(const torch::Tensor& query, const torch::Tensor& beta,
                                  const Memory& memory) {
  const auto k = by_sentence(normalised(W_k_(query)), memory);  // [B, G, C]
  const kernels::AttentionScore cosine{
      .form = kernels::ScoreForm::dot, .keys = memory.keys, .lengths = memory.lengths};
  return beta * kernels::attention_scores(cosine, k).flatten(0, 1);
}

torch::Tensor Ntm::scores(const torch::Tensor& query, const AttentionState& /*state*/,
                          const Memory& memory) {
  return content_scores(query, said_by(query).beta, memory);
}

AttentionStep Ntm::step(const torch::Tensor& query, const AttentionState& state,
                        const Memory& memory) {
  const auto [N, S] = std::pair(query.size(0), memory.keys.size(1));
  const auto [beta, g, s, gamma] = said_by(query);
  const auto weighed = [&](const torch::Tensor& e) {  // [N, S]
    return kernels::masked_softmax(e.view({memory.keys.size(0), -1, S}), memory.lengths)
        .view({N, S});
  };

  const auto content = weighed(content_scores(query, beta, memory));
  const auto gated = g * content + (1 - g) * state[0];
  const auto lengths = memory.lengths.to(query.device());
  torch::Tensor moved;
  for (std::int64_t j = -K_; j <= K_; ++j) {
    const auto part = s.narrow(1, j + K_, 1) * shifted(gated, j, lengths);
    moved = moved.defined() ? moved + part : part;
  }
  const auto weights = weighed(gamma * log_weights(moved));
  return {weights, {}, {weights}};
}

}  // namespace regard
