// The beam of one sentence: how its hypotheses came about, and which have finished.
#pragma once

#include <cstdint>
#include <vector>

#include "decoding/search.h"

namespace regard {

// A way of going on: hypothesis `parent` of the beam, followed by `token`.
struct Candidate {
  std::int64_t parent = 0;
  std::int64_t token = 0;
  double log_probability = 0;  // of the whole
  std::vector<float> weights;  // attention at this step, where wanted
};

class Beam {
 public:
  Beam(std::int64_t source_length, const SearchOptions& options);

  // Takes the 2W best candidates, best first; returns the at most W that go on, best first, or
  // nothing when the sentence has ended.
  std::vector<Candidate> advance(const std::vector<Candidate>& candidates);

  std::int64_t source_length() const { return source_length_; }
  // Best first; once the sentence has ended.
  std::vector<Hypothesis> n_best() const;

 private:
  // A token and the link before it: hypotheses share their beginnings.
  struct Link {
    std::int64_t token;
    std::int64_t previous;  // in links_; -1 before the first
    std::vector<float> weights;
  };

  std::int64_t add_link(const Candidate& candidate);
  Hypothesis trace(std::int64_t link, double log_probability, bool finished) const;

  const SearchOptions* options_;
  std::int64_t source_length_;
  std::int64_t length_limit_;
  std::int64_t length_ = 0;  // tokens of each hypothesis that is alive
  std::vector<Link> links_;
  std::vector<std::int64_t> alive_;  // the last link of each hypothesis in the beam
  std::vector<Hypothesis> finished_;
};

}  // namespace regard
