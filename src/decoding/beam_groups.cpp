#include "decoding/beam_groups.h"

#include <algorithm>
#include <iterator>

namespace regard {

SearchOptions group_options(const SearchOptions& options) {
  auto result = options;
  result.beam_size = options.beam_size / options.beam_groups;
  result.n_best = std::min(options.n_best, result.beam_size);
  return result;
}

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

}  // namespace regard
