#include "decoding/decode_loop.h"

#include <torch/utils.h>

#include <cmath>
#include <numeric>

#include "decoding/hypothesis.h"

namespace regard {
namespace {

// Appends a token. Returns false if the hypothesis ends.
bool extend(Hypothesis& hypothesis, std::int64_t token, double log_p, std::int64_t max_length) {
  if (!std::isfinite(log_p)) return false;  // no token is allowed
  hypothesis.log_probability += log_p;
  hypothesis.token_log_p.push_back(log_p);
  hypothesis.finished = token == eos_id;
  if (!hypothesis.finished) hypothesis.tokens.push_back(static_cast<std::int32_t>(token));
  return !hypothesis.finished && static_cast<std::int64_t>(hypothesis.tokens.size()) < max_length;
}

}  // namespace

std::vector<Hypothesis> decode_loop(Seq2Seq& model, EncoderOutput encoded,
                                    const std::vector<std::int64_t>& lengths,
                                    const SearchOptions& options,
                                    const std::vector<SentenceOptions>& sentences,
                                    const TokenSelector& select) {
  std::vector<Hypothesis> hypotheses(lengths.size());
  std::vector<std::int64_t> active(lengths.size());  // index of the hypothesis of each row
  std::iota(active.begin(), active.end(), 0);

  auto state = model.initial_state(encoded);
  const auto index = torch::TensorOptions(torch::kInt64).device(encoded.mask.device());
  std::vector<std::int64_t> first_tokens;
  for (const auto h : active) first_tokens.push_back(sentences[h].first_token);
  auto tokens = torch::tensor(first_tokens, index);
  while (!active.empty()) {
    options.throw_if_cancelled();
    auto step = model.step(tokens, state, encoded);
    std::vector<History> histories;
    for (const auto h : active) histories.push_back({hypotheses[h].tokens, &sentences[h]});
    const auto next = select(next_logits(model, step, encoded), active, histories);
    const AttentionOnCpu weights(options.needs_weights() ? step.weights : torch::Tensor());

    std::vector<std::int64_t> unfinished;  // rows that continue
    for (std::size_t row = 0; row < active.size(); ++row) {
      auto& hypothesis = hypotheses[active[row]];
      const auto length = lengths[active[row]];
      const auto log_p = next.log_p.data_ptr<double>()[row];
      if (weights && std::isfinite(log_p)) hypothesis.weights.push_back(weights.row(row, length));
      if (extend(hypothesis, next.tokens.data_ptr<std::int64_t>()[row], log_p,
                 output_limit(length, options, sentences[active[row]]))) {
        unfinished.push_back(static_cast<std::int64_t>(row));
      } else {
        hypothesis.score = score_hypothesis(hypothesis, options);
        if (!options.want_weights) hypothesis.weights.clear();
      }
    }

    state = std::move(step.state);
    tokens = next.tokens.squeeze(1).to(encoded.mask.device());
    if (unfinished.size() < active.size()) {
      const auto rows = torch::tensor(unfinished, index);
      state = state.select(rows);
      encoded = encoded.select(rows);
      tokens = tokens.index_select(0, rows);
      for (auto& row : unfinished) row = active[row];  // from rows to indices of hypotheses
      active = std::move(unfinished);
    }
  }
  return hypotheses;
}

std::vector<std::vector<Hypothesis>> greedy_search(Seq2Seq& model, const torch::Tensor& source,
                                                   const torch::Tensor& lengths,
                                                   const SearchOptions& options,
                                                   const std::vector<SentenceOptions>& sentences) {
  const LogitsProcessor processor(options, sentences);
  const auto select_best =
      [&](const NextLogits& logits, const std::vector<std::int64_t>& /*hypotheses*/,
          const std::vector<History>& histories) { return processor.best(logits, 1, histories); };
  const auto encoded = encode_for_search(model, source, lengths, sentences);
  const auto* first_length = encoded.lengths.const_data_ptr<std::int64_t>();
  const std::vector<std::int64_t> source_lengths(first_length,
                                                 first_length + encoded.lengths.size(0));
  std::vector<std::vector<Hypothesis>> results;
  for (auto& hypothesis :
       decode_loop(model, encoded, source_lengths, options, sentences, select_best)) {
    results.push_back({std::move(hypothesis)});
  }
  return results;
}

}  // namespace regard
