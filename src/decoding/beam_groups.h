// Diverse beam search (Vijayakumar et al. 2016): the W hypotheses of a sentence are divided into G
// groups, each a beam search with W / G hypotheses. At each step the groups select tokens in turn,
// and group g ranks its candidates by
//
//   log P(y_1 … y_t) − λ Σ_{h < g} |{hypotheses of group h that continue with y_t at this step}|
//
// (Hamming diversity). Log-probabilities and scores remain those of the model. One group is plain
// beam search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "decoding/beam.h"
#include "decoding/candidates.h"

namespace regard {

// Returns the options of the beam of each group.
SearchOptions group_options(const SearchOptions& options);

// The groups of one sentence.
class BeamGroups {
 public:
  // `group_options` is the result of group_options(). It and `sentence` must outlive this object.
  BeamGroups(std::int64_t source_length, const SearchOptions& group_options,
             const SentenceOptions& sentence);

  // Returns the candidates that continue in each group, none if the group is complete. `sentence`
  // is the index in the batch.
  std::vector<std::vector<Candidate>> advance(std::size_t sentence, const Candidates& candidates);
  bool are_complete() const;

  // Appends one history per row, W for each group; empty for missing hypotheses.
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

}  // namespace regard
