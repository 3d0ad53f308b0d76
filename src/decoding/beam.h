// The beam of one sentence: how its hypotheses came about, which have finished, and when it ends.
//
//   full   when W hypotheses have finished
//   exact  as soon as no open hypothesis can still reach the score of the n-th best finished one
//          (best_possible_score() in decoding/score.h): the n best are those of `never`
//   never  at the greatest length only
#pragma once

#include <cstdint>
#include <vector>

#include "decoding/search.h"
#include "decoding/search_tree.h"

namespace regard {

// A way of going on: hypothesis `parent` of the beam, followed by `token`.
struct Candidate {
  std::int64_t parent = 0;
  std::int64_t token = 0;
  double log_probability = 0;  // of the whole
  std::vector<float> weights;  // attention at this step, where needed
};

class Beam {
 public:
  // Both options must outlive this.
  Beam(std::int64_t source_length, const SearchOptions& options, const SentenceOptions& sentence);

  // Takes the 2W best candidates, best first; returns the at most W that go on, best first, or
  // nothing when the sentence has ended.
  std::vector<Candidate> advance(const std::vector<Candidate>& candidates);

  std::int64_t source_length() const { return source_length_; }
  const SentenceOptions& sentence() const { return *sentence_; }
  // The tokens of open hypothesis k, and none where there is no such one.
  std::vector<std::int32_t> history(std::size_t k) const;
  // Best first, at most W; once the sentence has ended.
  std::vector<Hypothesis> n_best() const;
  // All that has been in the beam, as group `group` of the search.
  SearchTree tree(std::size_t group) const;

 private:
  // A token and the link before it: hypotheses share their beginnings.
  struct Link {
    std::int64_t token;
    std::int64_t previous;   // in links_; -1 before the first
    double log_probability;  // of all so far
    std::vector<float> weights;
  };
  struct Open {
    std::int64_t link = -1;  // the last
    double log_probability = 0;
  };

  std::int64_t add_link(const Candidate& candidate);
  Hypothesis trace(const Open& last, bool finished) const;
  void cut_off();
  bool is_decided() const;

  const SearchOptions* options_;
  const SentenceOptions* sentence_;
  std::int64_t source_length_;
  std::int64_t length_limit_;
  std::int64_t length_ = 0;  // tokens of each hypothesis that is open
  std::vector<Link> links_;
  std::vector<Open> open_;
  std::vector<Hypothesis> finished_;
};

}  // namespace regard
