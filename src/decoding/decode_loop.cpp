// Greedy search and sampling. The hypotheses are independent of each other and grow by one token
// per step.
//
// Greedy search: y_t = argmax_y P(y | y_<t, x), one hypothesis per sentence. Sampling: see
// sampling.h.
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "decoding/hypothesis.h"
#include "decoding/logits_processor.h"
#include "decoding/sampling.h"
#include "decoding/search_loop.h"

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

class DecodeLoop : public SearchLoop {
 public:
  DecodeLoop(Seq2Seq& model, const SearchRequest& options, SearchGraphs* graphs)
      : model_(model), options_(options), processor_(options), batch_(model, graphs) {}

  void add(EncoderOutput encoded,
           std::vector<std::unique_ptr<SearchedSentence>> sentences) override;
  std::vector<RunningSearch::Finished> step() override;
  void remove(const std::vector<std::size_t>& ids) override;
  std::size_t size() const override { return sentences_; }
  void add_best(BestSoFar& best) const override;

 private:
  // The hypotheses of a sentence. The rows that write them share it.
  struct Answer {
    std::unique_ptr<SearchedSentence> sentence;
    std::vector<Hypothesis> hypotheses;
    std::size_t unfinished;
  };
  struct Row {
    std::shared_ptr<Answer> answer;
    std::size_t number;  // of the hypothesis
    Random random;       // for sampling

    Hypothesis& hypothesis() const { return answer->hypotheses[number]; }
  };

  std::size_t rows_per_sentence() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(options_.samples, 1));
  }
  DecoderBatch::Best best();

  Seq2Seq& model_;
  const SearchRequest& options_;
  LogitsProcessor processor_;
  DecoderBatch batch_;  // with one row per sentence: each sample has its own
  std::vector<Row> rows_;
  std::size_t sentences_ = 0;
};

void DecodeLoop::add(EncoderOutput encoded,
                     std::vector<std::unique_ptr<SearchedSentence>> sentences) {
  const auto samples = rows_per_sentence();
  std::vector<Row> rows;
  std::vector<std::int64_t> first_tokens;
  for (auto& sentence : sentences) {
    processor_.include(sentence->options);
    Random line_random(static_cast<std::uint64_t>(options_.seed),
                       static_cast<std::uint64_t>(sentence->options.number));
    const auto line_seed = line_random.next();
    const auto answer = std::make_shared<Answer>(
        Answer{std::move(sentence), std::vector<Hypothesis>(samples), samples});
    for (std::size_t n = 0; n < samples; ++n) {
      rows.push_back({answer, n, Random(line_seed, n)});
      first_tokens.push_back(answer->sentence->options.first_token);
    }
  }
  if (samples > 1) encoded = encoded.select(repeated_rows(encoded, options_.samples));
  rows_.reserve(rows_.size() + rows.size());
  batch_.append(std::move(encoded), first_tokens, 1);
  std::ranges::move(rows, std::back_inserter(rows_));
  sentences_ += sentences.size();
}

DecoderBatch::Best DecodeLoop::best() {
  std::vector<History> histories;
  if (processor_.needs_histories()) {
    for (const auto& row : rows_) {
      histories.push_back({row.hypothesis().tokens, &row.answer->sentence->options});
    }
  }
  if (options_.samples == 0) {
    return batch_.best(processor_, 1, histories, options_.needs_weights());
  }
  auto step = batch_.step(options_.needs_weights());
  const auto logits = next_logits(model_, step, batch_.encoded());
  std::vector<Random*> randoms;
  for (auto& row : rows_) randoms.push_back(&row.random);
  auto drawn =
      draw_tokens(logits, processor_.log_probabilities(logits, histories), options_, randoms);
  return {std::move(step), std::move(drawn)};
}

std::vector<RunningSearch::Finished> DecodeLoop::step() {
  const auto [step, next] = best();
  const auto K = next.tokens.size(1);
  const AttentionOnCpu weights(options_.needs_weights() ? step.weights : torch::Tensor());

  std::vector<RunningSearch::Finished> finished;
  std::vector<std::int64_t> unfinished;  // rows that continue
  std::vector<std::int64_t> tokens;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    auto& answer = *rows_[i].answer;
    auto& hypothesis = rows_[i].hypothesis();
    const auto length = answer.sentence->source_length;
    const auto first = static_cast<std::int64_t>(i) * K;
    const auto token = next.tokens.const_data_ptr<std::int64_t>()[first];
    const auto log_p = next.log_p.const_data_ptr<double>()[first];
    if (weights && std::isfinite(log_p)) hypothesis.weights.push_back(weights.row(i, length));
    if (extend(hypothesis, token, log_p,
               output_limit(length, options_, answer.sentence->options))) {
      unfinished.push_back(static_cast<std::int64_t>(i));
      tokens.push_back(token);
      continue;
    }
    hypothesis.score = score_hypothesis(hypothesis, options_);
    if (!options_.want_weights) hypothesis.weights.clear();
    if (--answer.unfinished == 0) {
      finished.push_back({answer.sentence->id, std::move(answer.hypotheses)});
    }
  }
  batch_.advance(step, unfinished, tokens, unfinished);
  std::vector<Row> rows;
  for (const auto row : unfinished) rows.push_back(std::move(rows_[static_cast<std::size_t>(row)]));
  rows_ = std::move(rows);
  sentences_ -= finished.size();
  return finished;
}

void DecodeLoop::remove(const std::vector<std::size_t>& ids) {
  std::vector<std::int64_t> kept;
  std::vector<Row> rows;
  const Answer* last = nullptr;
  sentences_ = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto& answer = rows_[i].answer;
    if (std::ranges::count(ids, answer->sentence->id) > 0) continue;
    if (answer.get() != last) ++sentences_;  // the rows of a sentence are consecutive
    last = answer.get();
    kept.push_back(static_cast<std::int64_t>(i));
    rows.push_back(rows_[i]);
  }
  batch_.keep(kept, 1);
  rows_ = std::move(rows);
}

void DecodeLoop::add_best(BestSoFar& best) const {
  const Answer* last = nullptr;
  for (const auto& row : rows_) {
    if (row.answer.get() != last) {
      best.emplace_back(row.answer->sentence->id, row.answer->hypotheses[0].tokens);
    }
    last = row.answer.get();
  }
}

}  // namespace

std::unique_ptr<SearchLoop> decode_loop(Seq2Seq& model, const SearchRequest& options,
                                        SearchGraphs* graphs) {
  return std::make_unique<DecodeLoop>(model, options, graphs);
}

}  // namespace regard
