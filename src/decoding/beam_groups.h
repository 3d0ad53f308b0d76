// Diverse beam search (Vijayakumar et al. 2016): the W hypotheses of a sentence in G groups, each a
// beam search of its own with W / G. At each step the groups choose in turn, and a token loses in
// the competition of group g what it has been chosen for by groups before:
//
//   log P(y_1 … y_t) − λ Σ_{h < g} |{hypotheses of group h that go on by y_t at this step}|
//
// (their Hamming diversity). Log-probabilities and scores stay the model's. One group is plain beam
// search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decoding/beam.h"
#include "decoding/candidates.h"

namespace regard {

// Options of each group's beam.
SearchOptions options_of_group(const SearchOptions& options);

// The groups of one sentence.
class BeamGroups {
 public:
  // `of_group`, of options_of_group(), and `sentence` must outlive this.
  BeamGroups(std::int64_t source_length, const SearchOptions& of_group,
             const SentenceOptions& sentence);

  // What goes on in each group, none where it has ended. `sentence` is its place in the batch.
  std::vector<std::vector<Candidate>> advance(std::size_t sentence, const Candidates& candidates);
  bool have_ended() const;

  // One for each row, W a group, those that are not there empty.
  void add_histories(std::vector<History>& histories) const;
  // Of all groups, best first, each translation once.
  std::vector<Hypothesis> n_best() const;
  std::shared_ptr<const SearchTree> tree() const;

 private:
  std::int64_t W_;  // hypotheses of a group
  double diversity_;
  std::vector<Beam> beams_;
  std::vector<bool> ended_;
};

}  // namespace regard
