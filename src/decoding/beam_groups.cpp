#include "decoding/beam_groups.h"

#include <algorithm>
#include <iterator>

namespace regard {

SearchOptions options_of_group(const SearchOptions& options) {
  auto of_group = options;
  of_group.beam_size = options.beam_size / options.beam_groups;
  of_group.n_best = std::min(options.n_best, of_group.beam_size);
  return of_group;
}

BeamGroups::BeamGroups(std::int64_t source_length, const SearchOptions& of_group,
                       const SentenceOptions& sentence)
    : W_(of_group.beam_size),
      diversity_(of_group.diversity),
      beams_(static_cast<std::size_t>(of_group.beam_groups),
             Beam(source_length, of_group, sentence)),
      ended_(beams_.size(), false) {}

std::vector<std::vector<Candidate>> BeamGroups::advance(std::size_t sentence,
                                                        const Candidates& candidates) {
  const auto G = beams_.size();
  std::vector<std::vector<Candidate>> going_on(G);
  Penalties penalties;
  for (std::size_t g = 0; g < G; ++g) {
    if (ended_[g]) continue;
    auto& beam = beams_[g];
    going_on[g] = beam.advance(candidates.of(sentence * G + g, beam, penalties));
    ended_[g] = going_on[g].empty();
    for (const auto& candidate : going_on[g]) penalties[candidate.token] += diversity_;
  }
  return going_on;
}

void BeamGroups::add_histories(std::vector<History>& histories) const {
  for (const auto& beam : beams_) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(W_); ++k) {
      histories.push_back({beam.history(k), &beam.sentence()});
    }
  }
}

bool BeamGroups::have_ended() const {
  return std::find(ended_.begin(), ended_.end(), false) == ended_.end();
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
  // What was cut off comes behind what has finished.
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.finished != b.finished ? a.finished : a.score > b.score;
  });
  return all;
}

}  // namespace regard
