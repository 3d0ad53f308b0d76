#include "decoding/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoding/attention_rows.h"
#include "decoding/beam.h"
#include "decoding/next_tokens.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The best continuations of each sentence: 2W leave W to go on, however many are </s>.
class Candidates {
 public:
  // scores: log P of each hypothesis, W a sentence; next: 2W tokens for each; weights [n · W, S] or
  // undefined.
  Candidates(std::int64_t W, const std::vector<double>& scores, const NextTokens& next,
             const torch::Tensor& weights)
      : W_(static_cast<std::size_t>(W)), scores_(scores), next_(next), weights_(weights) {}

  std::vector<Candidate> of(std::size_t sentence, std::int64_t source_length) const {
    const auto k = static_cast<std::size_t>(next_.tokens.size(1));
    const auto* tokens = next_.tokens.data_ptr<std::int64_t>();
    const auto* log_p = next_.log_p.data_ptr<double>();
    std::vector<Candidate> candidates;
    for (std::size_t parent = 0; parent < W_; ++parent) {
      const auto row = sentence * W_ + parent;
      for (std::size_t i = row * k; i < (row + 1) * k; ++i) {
        const auto total = scores_[row] + log_p[i];
        candidates.push_back({static_cast<std::int64_t>(parent),
                              tokens[i],
                              std::isnan(total) ? minus_infinity : total,
                              {}});
      }
    }
    // Of equals the earlier first: nothing depends on the rest of the batch.
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
      return a.log_probability > b.log_probability;
    });
    candidates.resize(std::min(candidates.size(), 2 * W_));
    if (weights_) {
      for (auto& candidate : candidates) {
        const auto row = sentence * W_ + static_cast<std::size_t>(candidate.parent);
        candidate.weights = weights_.row(row, source_length);
      }
    }
    return candidates;
  }

 private:
  std::size_t W_;
  const std::vector<double>& scores_;
  const NextTokens& next_;
  AttentionRows weights_;
};

// What goes into the next step: one entry for each row of the batch, W rows a sentence.
struct Rows {
  std::vector<std::int64_t> parents;
  std::vector<std::int64_t> tokens;
  std::vector<double> scores;

  // Places that no candidate fills repeat the first with no probability.
  void add(std::size_t sentence, std::int64_t W, const std::vector<Candidate>& going_on) {
    for (std::int64_t k = 0; k < W; ++k) {
      const bool filled = k < static_cast<std::int64_t>(going_on.size());
      const auto& candidate = going_on[filled ? k : 0];
      parents.push_back(static_cast<std::int64_t>(sentence) * W + candidate.parent);
      tokens.push_back(candidate.token);
      scores.push_back(filled ? candidate.log_probability : minus_infinity);
    }
  }
};

// One for each row of the batch.
std::vector<std::vector<std::int32_t>> histories_of(const std::vector<Beam>& beams,
                                                    const std::vector<std::size_t>& alive,
                                                    std::int64_t W) {
  std::vector<std::vector<std::int32_t>> histories;
  for (const auto sentence : alive) {
    for (std::int64_t k = 0; k < W; ++k) {
      histories.push_back(beams[sentence].history(static_cast<std::size_t>(k)));
    }
  }
  return histories;
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(Seq2Seq& model, const torch::Tensor& source,
                                                 const torch::Tensor& lengths,
                                                 const SearchOptions& options) {
  const auto B = source.size(0);
  const auto W = options.beam_size;
  const TokenChooser chooser(options);
  std::vector<Beam> beams;
  std::vector<std::size_t> alive;  // which sentence each group of W rows belongs to
  for (std::int64_t b = 0; b < B; ++b) {
    beams.emplace_back(lengths[b].item<std::int64_t>(), options);
    alive.push_back(static_cast<std::size_t>(b));
  }

  const auto index = torch::TensorOptions(torch::kInt64).device(source.device());
  auto memory = model.encode(source, lengths);
  auto state = model.start(memory).select(
      torch::arange(B, index).repeat_interleave(W));  // rows 0 0 0 1 1 1 …
  auto tokens = torch::full({B * W}, options.begin_token, index);
  // All W hypotheses begin alike: only the first counts.
  std::vector<double> scores(static_cast<std::size_t>(B * W), minus_infinity);
  for (std::size_t b = 0; b < alive.size(); ++b) scores[b * static_cast<std::size_t>(W)] = 0;

  while (!alive.empty()) {
    const auto step = model.step(tokens, state, memory);
    const auto best =
        chooser.best(model.output().logits(step, memory), 2 * W,
                     chooser.needs_histories() ? histories_of(beams, alive, W)
                                               : std::vector<std::vector<std::int32_t>>());
    const Candidates candidates(W, scores, best,
                                options.needs_weights() ? step.weights : torch::Tensor());
    Rows next;
    std::vector<std::int64_t> staying;  // sentences of the batch that go on
    std::vector<std::size_t> still_alive;
    for (std::size_t i = 0; i < alive.size(); ++i) {
      auto& beam = beams[alive[i]];
      const auto going_on = beam.advance(candidates.of(i, beam.source_length()));
      if (going_on.empty()) continue;
      next.add(i, W, going_on);
      staying.push_back(static_cast<std::int64_t>(i));
      still_alive.push_back(alive[i]);
    }
    state = step.state.select(torch::tensor(next.parents, index));
    if (staying.size() < alive.size()) {
      memory = memory.select(torch::tensor(staying, index));
    }
    tokens = torch::tensor(next.tokens, index);
    scores = std::move(next.scores);
    alive = std::move(still_alive);
  }

  std::vector<std::vector<Hypothesis>> found;
  for (const auto& beam : beams) found.push_back(beam.n_best());
  return found;
}

}  // namespace regard
