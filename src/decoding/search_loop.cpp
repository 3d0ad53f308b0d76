#include "decoding/search_loop.h"

#include <torch/utils.h>

#include "kernels/device.h"

namespace regard {

RowIndices repeated_rows(const EncoderOutput& encoded, std::int64_t n) {
  const auto rows = torch::arange(encoded.mask.size(0), torch::kInt64).repeat_interleave(n);
  return {rows, to_device(rows, encoded.mask.device())};
}

std::vector<RowIndices> DecoderBatch::on_device(
    const std::vector<std::vector<std::int64_t>>& lists) const {
  std::vector<std::int64_t> values;
  for (const auto& list : lists) values.insert(values.end(), list.begin(), list.end());
  const auto on_cpu = torch::tensor(values, torch::kInt64);
  const auto there = to_device(on_cpu, encoded_.mask.device());
  std::vector<RowIndices> result;
  std::int64_t begin = 0;
  for (const auto& list : lists) {
    const auto size = static_cast<std::int64_t>(list.size());
    result.push_back({on_cpu.narrow(0, begin, size), there.narrow(0, begin, size)});
    begin += size;
  }
  return result;
}

void DecoderBatch::append(EncoderOutput encoded, const std::vector<std::int64_t>& first_tokens,
                          std::int64_t G) {
  const auto B = static_cast<std::int64_t>(first_tokens.size());
  leave_slot();
  auto state = model_.initial_state(encoded);
  if (G > 1) state = state.select(repeated_rows(encoded, G));
  const auto tokens = to_device(torch::tensor(first_tokens, torch::kInt64).repeat_interleave(G),
                                encoded.mask.device());
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
  if (slot_) {
    sentences_ = std::ssize(sentences);
    if (sentences_ > 0) {
      slot_->advance(parents, tokens, sentences);
    } else {
      clear();
    }
    return;
  }
  bool is_same = static_cast<std::int64_t>(parents.size()) == tokens_.size(0);
  for (std::size_t row = 0; is_same && row < parents.size(); ++row) {
    is_same = parents[row] == static_cast<std::int64_t>(row);
  }
  const auto copied =
      is_same ? on_device({tokens, sentences}) : on_device({tokens, sentences, parents});
  if (!parents.empty()) {
    state_ = is_same ? step.state : step.state.select(copied[2]);
    tokens_ = copied[0].on_device;
  }
  keep_sentences(copied[1]);
}

void DecoderBatch::keep(const std::vector<std::int64_t>& sentences, std::int64_t G) {
  leave_slot();
  std::vector<std::int64_t> rows;
  for (const auto sentence : sentences) {
    for (std::int64_t g = 0; g < G; ++g) rows.push_back(sentence * G + g);
  }
  const auto copied = on_device({sentences, rows});
  if (!sentences.empty()) {
    state_ = state_.select(copied[1]);
    tokens_ = tokens_.index_select(0, copied[1].on_device);
  }
  keep_sentences(copied[0]);
}

void DecoderBatch::keep_sentences(const RowIndices& sentences) {
  if (sentences.on_cpu.size(0) == sentences_) return;
  sentences_ = sentences.on_cpu.size(0);
  if (sentences_ > 0) {
    encoded_ = encoded_.select(sentences);
  } else {
    clear();
  }
}

// Frees the memory.
void DecoderBatch::clear() {
  slot_.reset();
  encoded_ = {};
  state_ = {};
  tokens_ = torch::Tensor();
}

DecoderBatch::Best DecoderBatch::best(const LogitsProcessor& processor, std::int64_t k,
                                      const std::vector<History>& histories, bool want_weights) {
  if (!want_weights && processor.needs_only_top()) {
    if (const auto top = graphed_step(processor.top_count(k))) {
      return {.step = {}, .tokens = processor.best_of_top(*top, k, histories)};
    }
  }
  auto of_model = step(want_weights);
  auto tokens = processor.best(next_logits(model_, of_model, encoded_), k, histories);
  return {std::move(of_model), std::move(tokens)};
}

std::optional<kernels::TopK> DecoderBatch::graphed_step(std::int64_t k) {
  if (graphs_ == nullptr || !graphs_->is_enabled()) return std::nullopt;
  try {
    if (slot_ && slot_->should_move(k)) leave_slot();
    if (!slot_) {
      if (encoded_.shortlist || !SearchGraphs::can_take(state_)) return std::nullopt;
      slot_ = std::make_unique<GraphedBatch>(*graphs_, encoded_, state_, tokens_, k);
      encoded_ = {};
      state_ = {};
      tokens_ = torch::Tensor();
    }
    slot_->step();
  } catch (const std::exception& error) {
    graphs_->disable(error);
    return std::nullopt;
  }
  return slot_->best();
}

void DecoderBatch::leave_slot() {
  if (!slot_) return;
  encoded_ = slot_->encoded();
  state_ = slot_->state();
  tokens_ = slot_->tokens();
  slot_.reset();
}

}  // namespace regard
