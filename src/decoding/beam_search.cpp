#include "decoding/beam_search.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "decoding/beam.h"
#include "decoding/candidates.h"
#include "decoding/logits_processor.h"

namespace regard {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Returns the options for the beam of one group: all but beam_size and n_best are unchanged.
SearchOptions group_options(const SearchOptions& options) {
  auto result = options;
  result.beam_size = options.beam_size / options.beam_groups;
  result.n_best = std::min(options.n_best, result.beam_size);
  return result;
}

// The beams of the groups of one sentence.
class BeamGroups {
 public:
  // `group_options` is the result of group_options(). It and `sentence` must outlive this object.
  BeamGroups(std::int64_t source_length, const SearchOptions& group_options,
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
  std::vector<Hypothesis> n_best() const;
  std::shared_ptr<const SearchTree> tree() const;

 private:
  std::int64_t W_;  // hypotheses per group
  double diversity_;
  std::vector<Beam> beams_;
  std::vector<bool> complete_;
};

BeamGroups::BeamGroups(std::int64_t source_length, const SearchOptions& group_options,
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

std::vector<Hypothesis> BeamGroups::n_best() const {
  if (beams_.size() == 1) return beams_[0].n_best();
  std::vector<Hypothesis> all;
  for (const auto& beam : beams_) {
    for (auto& hypothesis : beam.n_best()) {
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

// Returns one history for each row of the batch.
std::vector<History> histories_of(const std::vector<BeamGroups>& groups,
                                  const std::vector<std::size_t>& active) {
  std::vector<History> histories;
  for (const auto b : active) groups[b].add_histories(histories);
  return histories;
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(Seq2Seq& model, const torch::Tensor& source,
                                                 const torch::Tensor& lengths,
                                                 const SearchOptions& options,
                                                 const std::vector<SentenceOptions>& sentences) {
  const auto B = source.size(0);
  const auto beam_options = group_options(options);
  const auto W = beam_options.beam_size;
  const auto rows = W * options.beam_groups;  // per sentence
  const LogitsProcessor processor(options, sentences);
  std::vector<BeamGroups> groups;   // one per source
  std::vector<std::size_t> active;  // sentences still in the batch, as indices of `groups`
  auto encoded = encode_for_search(model, source, lengths, sentences);
  std::vector<std::int64_t> first_tokens;
  for (std::int64_t b = 0; b < B; ++b) {
    first_tokens.push_back(sentences[static_cast<std::size_t>(b)].first_token);
    groups.emplace_back(encoded.lengths[b].item<std::int64_t>(), beam_options,
                        sentences[static_cast<std::size_t>(b)]);
    active.push_back(static_cast<std::size_t>(b));
  }

  const auto index = torch::TensorOptions(torch::kInt64).device(source.device());
  auto state = model.initial_state(encoded).select(
      torch::arange(B, index).repeat_interleave(rows));  // rows 0 0 0 1 1 1 …
  auto tokens = torch::tensor(first_tokens, index).repeat_interleave(rows);
  // All W hypotheses of a beam are equal at the start, so only the first one counts.
  std::vector<double> log_p(static_cast<std::size_t>(B * rows), minus_infinity);
  for (std::size_t row = 0; row < log_p.size(); row += static_cast<std::size_t>(W)) log_p[row] = 0;

  while (!active.empty()) {
    options.throw_if_cancelled();
    const auto step = model.step(tokens, state, encoded);
    // Each row needs 2W tokens without a diversity penalty. The other groups of the sentence
    // penalize at most rows − W tokens, so at least 2W of the rows + W best tokens have no penalty.
    const auto best = processor.best(
        next_logits(model, step, encoded), rows + W,
        processor.needs_histories() ? histories_of(groups, active) : std::vector<History>());
    const Candidates candidates(beam_options, log_p, best,
                                options.needs_weights() ? step.weights : torch::Tensor());
    StepInputs next;
    std::vector<std::int64_t> unfinished;  // sentences that continue, as indices of `active`
    std::vector<std::size_t> still_active;
    for (std::size_t i = 0; i < active.size(); ++i) {
      auto& sentence_groups = groups[active[i]];
      const auto continuing = sentence_groups.advance(i, candidates);
      if (sentence_groups.are_complete()) continue;
      for (std::size_t g = 0; g < continuing.size(); ++g) {
        next.add(i * continuing.size() + g, W, continuing[g]);
      }
      unfinished.push_back(static_cast<std::int64_t>(i));
      still_active.push_back(active[i]);
    }
    state = step.state.select(torch::tensor(next.parents, index));
    if (unfinished.size() < active.size()) {
      encoded = encoded.select(torch::tensor(unfinished, index));
    }
    tokens = torch::tensor(next.tokens, index);
    log_p = std::move(next.log_p);
    active = std::move(still_active);
  }

  std::vector<std::vector<Hypothesis>> results;
  for (const auto& sentence_groups : groups) {
    results.push_back(sentence_groups.n_best());
    if (options.want_tree) results.back().front().tree = sentence_groups.tree();
  }
  return results;
}

}  // namespace regard
