// Beam search: at each step, keeps the W most probable continuations of the W hypotheses of a
// sentence.
//
// A continuation with </s> among the best W finishes its hypothesis, and the next best continuation
// takes its place. A sentence leaves the batch when it meets its stopping criterion (beam.h) or
// reaches the maximum length. Finished hypotheses are ranked by their scores (hypothesis.h).
//
// Diverse beam search (Vijayakumar et al. 2016): the W hypotheses of a sentence are divided into G
// groups, each a beam search with W / G hypotheses. At each step the groups select tokens in turn,
// and group g ranks its candidates by
//
//   log P(y_1 … y_t) − λ Σ_{h < g} |{hypotheses of group h that continue with y_t at this step}|
//
// (Hamming diversity). A hypothesis that ends at this step does not continue, so </s> has no
// penalty, and hypotheses that ended before do not count. Log-probabilities and scores remain those
// of the model. One group is plain beam search.
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>

#include "decoding/beam.h"
#include "decoding/lexical_constraints.h"
#include "decoding/logits_processor.h"
#include "decoding/search_loop.h"
#include "kernels/functions.h"

namespace regard {
namespace {

// Returns the options for the beam of one group: all but beam_size and n_best are unchanged.
SearchRequest group_options(const SearchRequest& options) {
  auto result = options;
  result.beam_size = options.beam_size / options.beam_groups;
  result.n_best = std::min(options.n_best, result.beam_size);
  return result;
}

// Maps a token to its penalty in the ranking of candidates. Penalties do not change
// log-probabilities.
using Penalties = std::map<std::int64_t, double>;

// Ranks the possible continuations of the hypotheses of a beam.
class Candidates {
 public:
  // The batch has N hypotheses, W = options.beam_size for each beam. log_p has the log-probability
  // of each hypothesis. `next` has the best next tokens of each, of which at least 2W must have no
  // penalty. weights [N, S] is undefined if attention is not needed. The first three arguments must
  // outlive this object.
  Candidates(const SearchRequest& options, const std::vector<double>& log_p, const NextTokens& next,
             const torch::Tensor& weights)
      : options_(options),
        W_(static_cast<std::size_t>(options.beam_size)),
        log_p_(log_p),
        next_(next),
        weights_(weights) {}

  // Returns the 2W best candidates of the beam with this index in the batch, by log-probability
  // minus penalty. At least W of them do not end in </s>, because each hypothesis has one </s>.
  // With lexical constraints, returns the result of allocate_beam(). The order of ties does not
  // depend on the rest of the batch.
  std::vector<Candidate> best(std::size_t index, const Beam& beam,
                              const Penalties& penalties) const {
    const auto k = static_cast<std::size_t>(next_.tokens.size(1));
    const auto* tokens = next_.tokens.data_ptr<std::int64_t>();
    const auto* log_p = next_.log_p.data_ptr<double>();
    std::vector<Candidate> candidates;
    for (std::size_t parent = 0; parent < W_; ++parent) {
      const auto row = index * W_ + parent;
      for (std::size_t i = row * k; i < (row + 1) * k; ++i) {
        const auto total = log_p_[row] + log_p[i];
        candidates.push_back({static_cast<std::int64_t>(parent),
                              tokens[i],
                              std::isnan(total) ? minus_infinity : total,
                              {}});
      }
    }
    std::ranges::stable_sort(candidates, std::ranges::greater{}, [&](const Candidate& candidate) {
      const auto penalty = penalties.find(candidate.token);
      return candidate.log_probability - (penalty == penalties.end() ? 0 : penalty->second);
    });
    if (beam.sentence().required_phrases.empty()) {
      candidates.resize(std::min(candidates.size(), 2 * W_));
    } else {
      std::vector<std::vector<std::int32_t>> histories;
      for (std::size_t parent = 0; parent < W_; ++parent) {
        histories.push_back(beam.history(parent));
      }
      candidates = allocate_beam(candidates, histories, beam.sentence().required_phrases, options_);
    }
    if (weights_) {
      for (auto& candidate : candidates) {
        const auto row = index * W_ + static_cast<std::size_t>(candidate.parent);
        candidate.weights = weights_.row(row, beam.source_length());
      }
    }
    return candidates;
  }

 private:
  const SearchRequest& options_;
  std::size_t W_;
  const std::vector<double>& log_p_;
  const NextTokens& next_;
  AttentionOnCpu weights_;
};

// The beams of the groups of one sentence.
class BeamGroups {
 public:
  // `group_options` is the result of group_options(). It and `sentence` must outlive this object.
  BeamGroups(std::int64_t source_length, const SearchRequest& group_options,
             const SentenceOptions& sentence);

  // Extends each group by one token. Returns for each group the candidates that become its open
  // hypotheses; empty if the group is complete. `sentence` is the index of the sentence in the
  // batch.
  std::vector<std::vector<Candidate>> advance(std::size_t sentence, const Candidates& candidates);
  bool are_complete() const;

  // Appends one history per row, W rows for each group. If a group has fewer than W open
  // hypotheses, the histories of its other rows are empty.
  void add_histories(std::vector<History>& histories) const;
  // Returns the distinct translations of all groups, best first.
  std::vector<Hypothesis> hypotheses() const;
  std::shared_ptr<const SearchTree> tree() const;
  // Returns the tokens of the best open hypothesis.
  std::vector<std::int32_t> best() const {
    const auto open = std::find(complete_.begin(), complete_.end(), false) - complete_.begin();
    return beams_[static_cast<std::size_t>(open)].history(0);
  }

 private:
  std::int64_t W_;  // hypotheses per group
  double diversity_;
  std::vector<Beam> beams_;
  std::vector<bool> complete_;
};

BeamGroups::BeamGroups(std::int64_t source_length, const SearchRequest& group_options,
                       const SentenceOptions& sentence)
    : W_(group_options.beam_size),
      diversity_(group_options.diversity),
      beams_(static_cast<std::size_t>(group_options.beam_groups),
             Beam(source_length, group_options, sentence)),
      complete_(beams_.size(), false) {}

std::vector<std::vector<Candidate>> BeamGroups::advance(std::size_t sentence,
                                                        const Candidates& candidates) {
  const auto G = beams_.size();
  std::vector<std::vector<Candidate>> continuing(G);
  Penalties penalties;
  for (std::size_t g = 0; g < G; ++g) {
    if (complete_[g]) continue;
    auto& beam = beams_[g];
    continuing[g] = beam.advance(candidates.best(sentence * G + g, beam, penalties));
    complete_[g] = continuing[g].empty();
    for (const auto& candidate : continuing[g]) penalties[candidate.token] += diversity_;
  }
  return continuing;
}

void BeamGroups::add_histories(std::vector<History>& histories) const {
  for (const auto& beam : beams_) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(W_); ++k) {
      histories.push_back({beam.history(k), &beam.sentence()});
    }
  }
}

bool BeamGroups::are_complete() const {
  return std::find(complete_.begin(), complete_.end(), false) == complete_.end();
}

std::shared_ptr<const SearchTree> BeamGroups::tree() const {
  auto tree = std::make_shared<SearchTree>();
  for (std::size_t g = 0; g < beams_.size(); ++g) tree->append(beams_[g].tree(g));
  return tree;
}

std::vector<Hypothesis> BeamGroups::hypotheses() const {
  if (beams_.size() == 1) return beams_[0].hypotheses();
  std::vector<Hypothesis> all;
  for (const auto& beam : beams_) {
    for (auto& hypothesis : beam.hypotheses()) {
      const auto same = [&](const Hypothesis& other) {
        return other.tokens == hypothesis.tokens && other.finished == hypothesis.finished;
      };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(hypothesis));
    }
  }
  // Unfinished hypotheses follow the finished ones.
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.finished != b.finished ? a.finished : a.score > b.score;
  });
  return all;
}

// The inputs of the next decoder step: one entry for each row of the batch, W rows per beam.
struct StepInputs {
  std::vector<std::int64_t> parents;  // row of the parent in the batch of the last step
  std::vector<std::int64_t> tokens;
  std::vector<double> log_p;  // of the hypothesis

  // Appends W rows for the beam with this index in the batch. If there are fewer candidates, fills
  // the other rows with the first candidate (or a default one) at log-probability −∞.
  void add(std::size_t beam, std::int64_t W, const std::vector<Candidate>& continuing) {
    const Candidate none;
    for (std::int64_t k = 0; k < W; ++k) {
      const bool filled = k < static_cast<std::int64_t>(continuing.size());
      const auto& candidate = continuing.empty() ? none : continuing[filled ? k : 0];
      parents.push_back(static_cast<std::int64_t>(beam) * W + candidate.parent);
      tokens.push_back(candidate.token);
      log_p.push_back(filled ? candidate.log_probability : minus_infinity);
    }
  }
};

class BeamSearch : public SearchLoop {
 public:
  BeamSearch(Seq2Seq& model, const SearchRequest& options, SearchGraphs* graphs)
      : options_(options),
        group_options_(group_options(options)),
        processor_(options),
        batch_(model, graphs) {}

  void add(EncoderOutput encoded,
           std::vector<std::unique_ptr<SearchedSentence>> sentences) override;
  std::vector<RunningSearch::Finished> step() override;
  void remove(const std::vector<std::size_t>& ids) override;
  std::size_t size() const override { return active_.size(); }
  void add_best(BestSoFar& best) const override {
    for (const auto& [sentence, groups] : active_) best.emplace_back(sentence->id, groups.best());
  }

 private:
  struct Active {
    std::unique_ptr<SearchedSentence> sentence;
    BeamGroups groups;
  };

  std::int64_t W() const { return group_options_.beam_size; }
  std::int64_t rows_per_sentence() const { return W() * options_.beam_groups; }
  std::vector<History> histories() const;
  RunningSearch::Finished finished(const Active& ended) const;

  const SearchRequest& options_;
  const SearchRequest group_options_;
  LogitsProcessor processor_;
  std::vector<Active> active_;
  DecoderBatch batch_;
  std::vector<double> log_p_;  // of the hypothesis of each row
};

void BeamSearch::add(EncoderOutput encoded,
                     std::vector<std::unique_ptr<SearchedSentence>> sentences) {
  std::vector<Active> joining;
  std::vector<std::int64_t> first_tokens;
  // All W hypotheses of a beam are equal at the start, so only the first one counts.
  auto log_p = log_p_;
  for (auto& sentence : sentences) {
    processor_.include(sentence->options);
    first_tokens.push_back(sentence->options.first_token);
    for (std::int64_t row = 0; row < rows_per_sentence(); ++row) {
      log_p.push_back(row % W() == 0 ? 0 : minus_infinity);
    }
    BeamGroups groups(sentence->source_length, group_options_, sentence->options);
    joining.push_back({std::move(sentence), std::move(groups)});
  }
  active_.reserve(active_.size() + joining.size());
  batch_.append(std::move(encoded), first_tokens, rows_per_sentence());
  std::ranges::move(joining, std::back_inserter(active_));
  log_p_ = std::move(log_p);
}

// Returns one history for each row of the batch.
std::vector<History> BeamSearch::histories() const {
  std::vector<History> histories;
  for (const auto& [sentence, groups] : active_) groups.add_histories(histories);
  return histories;
}

RunningSearch::Finished BeamSearch::finished(const Active& ended) const {
  RunningSearch::Finished finished = {ended.sentence->id, ended.groups.hypotheses()};
  if (options_.want_tree) finished.hypotheses.front().tree = ended.groups.tree();
  return finished;
}

std::vector<RunningSearch::Finished> BeamSearch::step() {
  // Each row needs 2W tokens without a diversity penalty. The other groups of the sentence penalize
  // at most rows − W tokens, so at least 2W of the rows + W best tokens have no penalty.
  const auto [step, best] =
      batch_.best(processor_, rows_per_sentence() + W(),
                  processor_.needs_histories() ? histories() : std::vector<History>(),
                  options_.needs_weights());
  const Candidates candidates(group_options_, log_p_, best,
                              options_.needs_weights() ? step.weights : torch::Tensor());
  StepInputs next;
  std::vector<RunningSearch::Finished> ended;
  std::vector<std::int64_t> unfinished;  // sentences that continue
  std::vector<Active> still_active;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    auto& groups = active_[i].groups;
    const auto continuing = groups.advance(i, candidates);
    if (groups.are_complete()) {
      ended.push_back(finished(active_[i]));
      continue;
    }
    for (std::size_t g = 0; g < continuing.size(); ++g) {
      next.add(i * continuing.size() + g, W(), continuing[g]);
    }
    unfinished.push_back(static_cast<std::int64_t>(i));
    still_active.push_back(std::move(active_[i]));
  }
  batch_.advance(step, next.parents, next.tokens, unfinished);
  log_p_ = std::move(next.log_p);
  active_ = std::move(still_active);
  return ended;
}

void BeamSearch::remove(const std::vector<std::size_t>& ids) {
  std::vector<std::int64_t> kept;
  std::vector<Active> still_active;
  std::vector<double> log_p;
  const auto rows = rows_per_sentence();
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (std::ranges::count(ids, active_[i].sentence->id) > 0) continue;
    kept.push_back(static_cast<std::int64_t>(i));
    const auto first = log_p_.begin() + static_cast<std::int64_t>(i) * rows;
    log_p.insert(log_p.end(), first, first + rows);
    still_active.push_back(std::move(active_[i]));
  }
  batch_.keep(kept, rows);
  active_ = std::move(still_active);
  log_p_ = std::move(log_p);
}

}  // namespace

std::unique_ptr<SearchLoop> beam_search(Seq2Seq& model, const SearchRequest& options,
                                        SearchGraphs* graphs) {
  return std::make_unique<BeamSearch>(model, options, graphs);
}

}  // namespace regard
