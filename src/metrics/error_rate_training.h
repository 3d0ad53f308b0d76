// Minimum error rate training (Och 2003): finds the weights λ of a linear model that chooses the
// best of the candidates of each sentence,
//
//   ŷ_i(λ) = argmax_c Σ_f λ_f x_f(i, c)
//
// such that the metric of the chosen candidates, over all sentences, is highest. Along a line
// λ + γ d, the total of a candidate is a linear function of γ, and the choice of a sentence changes
// only where the upper envelope of its candidates has a corner. So the metric is a piecewise
// constant function of γ, and search_line() finds its exact maximum from the corners of all
// sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "metrics/corpus_metric.h"

namespace regard {

// The candidates of all sentences.
struct CandidateTable {
  std::size_t features = 0;              // F
  std::vector<std::size_t> first = {0};  // [sentences + 1] index of each sentence's first one
  std::vector<double> values;            // [candidates, F], finite
  SentenceCounts counts;                 // of the metric, one entry per candidate
  const CorpusMetric* metric = nullptr;  // higher is better; must outlive the table

  std::size_t sentences() const { return first.size() - 1; }
  std::size_t candidates() const { return first.back(); }
  std::span<const double> value(std::size_t candidate) const {
    return std::span(values).subspan(candidate * features, features);
  }
};

// Returns Σ_f weights[f] values[f].
double weighted_sum(std::span<const double> weights, std::span<const double> values);

// Returns the candidate that the weights choose for each sentence, which must have one; the first
// of equal ones.
std::vector<std::size_t> best_candidates(const CandidateTable& table,
                                         std::span<const double> weights);

// Returns the metric of the candidates that the weights choose.
double score_of(const CandidateTable& table, std::span<const double> weights);

// A point of the line weights + step · direction, and the metric there.
struct LineOptimum {
  double step = 0;
  double score = 0;
};

// Returns the highest metric on the line, and the middle of its interval; outside the outermost
// corners, the point at a distance of 1 from the corner. If weights themselves have the highest
// metric, step is 0; otherwise the first of equal intervals counts. Intervals narrower than
// 1e-9 (1 + |γ|) are skipped: rounding errors could choose other candidates there.
LineOptimum search_line(const CandidateTable& table, std::span<const double> weights,
                        std::span<const double> direction);

struct TuningOptions {
  std::size_t restarts = 20;  // random starting points, besides the initial weights
  std::uint64_t seed = 1;
};

struct TunedWeights {
  std::vector<double> weights;  // [F], Σ |λ_f| = 1 unless all are 0
  double initial_score = 0;     // of the initial weights, scaled in the same way
  double score = 0;             // of `weights`, at least initial_score
};

// Searches from `initial` and from random points. Each step takes the best optimum of the lines
// along every feature and along as many random directions, until none is better. Features are
// scaled by their standard deviation within sentences in random points and directions, so their
// units do not matter. The result depends on the seed, not on the number of threads.
TunedWeights tune_weights(const CandidateTable& table, std::vector<double> initial,
                          const TuningOptions& options, ThreadPool& pool);

}  // namespace regard
