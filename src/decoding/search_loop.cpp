#include "decoding/search_loop.h"

#include <torch/utils.h>

namespace regard {

torch::Tensor repeated_rows(const EncoderOutput& encoded, std::int64_t n) {
  const torch::TensorOptions options(torch::kInt64);
  return torch::arange(encoded.mask.size(0), options.device(encoded.mask.device()))
      .repeat_interleave(n);
}

torch::Tensor DecoderBatch::index(const std::vector<std::int64_t>& values) const {
  return torch::tensor(values, torch::TensorOptions(torch::kInt64).device(encoded_.mask.device()));
}

void DecoderBatch::append(EncoderOutput encoded, const std::vector<std::int64_t>& first_tokens,
                          std::int64_t G) {
  const auto B = static_cast<std::int64_t>(first_tokens.size());
  const auto options = torch::TensorOptions(torch::kInt64).device(encoded.mask.device());
  auto state = model_.initial_state(encoded);
  if (G > 1) state = state.select(repeated_rows(encoded, G));
  const auto tokens = torch::tensor(first_tokens, options).repeat_interleave(G);
  if (sentences_ == 0) {
    encoded_ = std::move(encoded);
    state_ = std::move(state);
    tokens_ = tokens;
  } else {
    auto all_encoded = encoded_;
    auto all_states = state_;
    all_encoded.append(encoded);
    all_states.append(state);
    tokens_ = torch::cat({tokens_, tokens});
    encoded_ = std::move(all_encoded);
    state_ = std::move(all_states);
  }
  sentences_ += B;
}

void DecoderBatch::advance(const DecoderStep& step, const std::vector<std::int64_t>& parents,
                           const std::vector<std::int64_t>& tokens,
                           const std::vector<std::int64_t>& sentences) {
  if (!parents.empty()) {
    bool is_same = static_cast<std::int64_t>(parents.size()) == tokens_.size(0);
    for (std::size_t row = 0; is_same && row < parents.size(); ++row) {
      is_same = parents[row] == static_cast<std::int64_t>(row);
    }
    state_ = is_same ? step.state : step.state.select(index(parents));
    tokens_ = index(tokens);
  }
  keep_sentences(sentences);
}

void DecoderBatch::keep(const std::vector<std::int64_t>& sentences, std::int64_t G) {
  if (!sentences.empty()) {
    std::vector<std::int64_t> rows;
    for (const auto sentence : sentences) {
      for (std::int64_t g = 0; g < G; ++g) rows.push_back(sentence * G + g);
    }
    const auto selected = index(rows);
    state_ = state_.select(selected);
    tokens_ = tokens_.index_select(0, selected);
  }
  keep_sentences(sentences);
}

void DecoderBatch::keep_sentences(const std::vector<std::int64_t>& sentences) {
  if (static_cast<std::int64_t>(sentences.size()) == sentences_) return;
  sentences_ = static_cast<std::int64_t>(sentences.size());
  if (sentences_ > 0) {
    encoded_ = encoded_.select(index(sentences));
  } else {  // frees the memory
    encoded_ = {};
    state_ = {};
    tokens_ = torch::Tensor();
  }
}

}  // namespace regard
