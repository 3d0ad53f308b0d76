// A hypothesis of a search, its score, and the tree of all hypotheses of a beam search.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace regard {

struct SearchRequest;
struct SearchTree;

struct Hypothesis {
  std::vector<std::int32_t> tokens;         // without <s> and </s>
  double log_probability = 0;               // Σ log P(y_t | y_<t, x), including </s> if finished
  double score = 0;                         // see score_hypothesis()
  bool finished = false;                    // ends in </s>; false if it reached the maximum length
  std::vector<std::vector<float>> weights;  // attention [tokens + </s>][S]; empty unless requested
  std::vector<double> token_log_p;          // [tokens + </s>] log P(y_t | y_<t, x)
  std::optional<double> expected_utility;  // see translation/minimum_bayes_risk.h; empty without it
  std::shared_ptr<const SearchTree> tree;  // of the search; set in the best hypothesis if requested
};

// Returns the number that ranks the hypotheses of a translation: the expected utility if it was
// computed, else the score.
inline double ranking_score(const Hypothesis& hypothesis) {
  return hypothesis.expected_utility.value_or(hypothesis.score);
}

// The tree of all hypotheses that were in the beam at some step. Hypotheses share their prefixes;
// the roots are the first tokens.
struct SearchTree {
  struct Node {
    std::int64_t token;
    std::int64_t previous;        // index of the parent in nodes; -1 at a root
    double log_probability;       // sum over the tokens from the root to this node
    std::size_t group;            // index of the group of hypotheses (decoding/beam_search.cpp)
    std::optional<double> score;  // set if the hypothesis ends here in </s>
  };
  std::vector<Node> nodes;

  // Appends the nodes of another group.
  void append(const SearchTree& other);
};

// Returns the score that ranks finished hypotheses:
//
//   score(Y, X) = log P(Y | X) / lp(n) + β Σ_s log min(Σ_t α_ts, 1)
//
// n is the number of tokens of Y, including </s>; lp(n) is ((5 + n) / 6)^α as in GNMT, or n^α. The
// second term is the coverage penalty of GNMT (Wu et al. 2016), with s over the source tokens and
// </s>. It is 0 if every position received a total weight of at least 1, and negative otherwise.
// `tokens`, `log_probability`, `finished` and, if β > 0, `weights` of the hypothesis must be set.
double score_hypothesis(const Hypothesis& hypothesis, const SearchRequest& options);

// Returns lp(n), the divisor of log P in score_hypothesis().
double length_penalty(std::int64_t n, const SearchRequest& options);

// Returns Σ_s log min(Σ_t α_ts, 1) of weights [T][S]. The argument of log is at least 1e-10, so
// that the penalty of a position without attention is finite.
double coverage_penalty(const std::vector<std::vector<float>>& weights);

// Returns an upper bound for the scores of hypotheses of at most `max_length` tokens, including
// </s>, that extend a hypothesis with this log-probability: log P can only decrease, lp only
// increase with more tokens, and the coverage penalty is at most 0.
double best_possible_score(double log_probability, std::int64_t max_length,
                           const SearchRequest& options);

// The attention weights of one decoding step, copied to the CPU.
class AttentionOnCpu {
 public:
  // weights [N, S], or undefined if the model has no attention or nobody needs the weights.
  explicit AttentionOnCpu(const torch::Tensor& weights);

  explicit operator bool() const { return weights_.defined(); }

  // Returns the weights of one row for the first `length` source positions, without padding.
  std::vector<float> row(std::size_t row, std::int64_t length) const;

 private:
  torch::Tensor weights_;
};

}  // namespace regard
