// The beam of one sentence: its open and finished hypotheses, and its stopping criterion
// (options.early_stopping). W is options.beam_size and n is options.n_best.
//
//   full   stops when W hypotheses have finished
//   ahead  stops when W hypotheses have finished and no open one has, for its present length, a
//          better score than the best of them
//   exact  stops when no open hypothesis can reach the score of the n-th best finished one
//          (best_possible_score()), so that the n best are the same as with `never`
//   never  stops only at the maximum length
#pragma once

#include <cstdint>
#include <vector>

#include "decoding/search.h"

namespace regard {

// A possible continuation: the open hypothesis with index `parent`, followed by `token`.
struct Candidate {
  std::int64_t parent = 0;
  std::int64_t token = 0;
  double log_probability = 0;  // of the whole hypothesis, including `token`
  std::vector<float> weights;  // attention of this step; empty if not needed
};

class Beam {
 public:
  // source_length includes </s>. `options` and `sentence` must outlive this object.
  Beam(std::int64_t source_length, const SearchRequest& options, const SentenceOptions& sentence);

  // Extends the beam by one token. `candidates` are the 2W best continuations, best first. Returns
  // the candidates that become the new open hypotheses, at most W, best first. Returns an empty
  // list if the search of the sentence is complete.
  std::vector<Candidate> advance(const std::vector<Candidate>& candidates);

  std::int64_t source_length() const { return source_length_; }
  const SentenceOptions& sentence() const { return *sentence_; }
  // Returns the tokens of open hypothesis k; empty if there is no such hypothesis.
  std::vector<std::int32_t> history(std::size_t k) const;
  // Returns the finished hypotheses with the best scores, at most W, best first. If none reached
  // </s>, these are the hypotheses that were open at the end. Call it when the search is complete.
  std::vector<Hypothesis> hypotheses() const;
  // Returns the tree of all hypotheses that were in the beam at some step. `group` is the index of
  // this beam in SearchTree.
  SearchTree tree(std::size_t group) const;

 private:
  // A token of a hypothesis and the index of the previous token. Hypotheses share prefixes.
  struct Node {
    std::int64_t token;
    std::int64_t previous;       // index in nodes_; -1 for the first token
    double log_probability;      // sum over the tokens from the first to this one
    std::vector<float> weights;  // attention at this token; empty if not needed
  };
  struct OpenHypothesis {
    std::int64_t node = -1;  // index in nodes_ of the last token; -1 if there is none
    double log_probability = 0;
  };

  std::int64_t add_node(const Candidate& candidate);
  Hypothesis backtrack(const OpenHypothesis& last, bool finished) const;
  // Makes open hypotheses the result, because no hypothesis reached </s>: those with the largest
  // number of met constraint tokens (lexical_constraints.h), or all if there are no constraints.
  void finish_open_hypotheses();
  // True if the stopping criterion is met before the maximum length.
  bool can_stop() const;
  // True if n hypotheses have finished, and no open one would have, at a length, a better score
  // than the n-th best of them.
  bool none_is_better(std::size_t n, std::int64_t length) const;

  const SearchRequest* options_;
  const SentenceOptions* sentence_;
  std::int64_t source_length_;
  std::int64_t max_length_;
  std::int64_t length_ = 0;  // number of tokens of each open hypothesis
  std::vector<Node> nodes_;
  std::vector<OpenHypothesis> open_;
  std::vector<Hypothesis> finished_;
};

}  // namespace regard
