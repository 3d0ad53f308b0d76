// Computes confidence intervals and significance tests for any metric, from the counts of each
// sentence. Definitions and defaults are sacreBLEU's. Random numbers differ from sacreBLEU's, so
// results agree only within the sampling error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/corpus_metric.h"

namespace regard {

struct Resampling {
  std::size_t resamples = 1000;  // of a bootstrap
  std::size_t trials = 10'000;   // of approximate randomisation
  std::uint64_t seed = 12'345;
};

// Returns the scores of `resamples` test sets of the same size, drawn from the test set with
// replacement (Efron 1979). Equal seeds and sizes draw the same sentences, so that the scores of
// two systems are paired.
std::vector<double> bootstrap_scores(const CorpusMetric& metric, const SentenceCounts& counts,
                                     const Resampling& resampling);

struct ConfidenceInterval {
  double mean = 0;        // of the resamples
  double half_width = 0;  // half the width of the central 95 %
};
// `scores` are those of bootstrap_scores(); there must be at least one.
ConfidenceInterval confidence_interval(std::vector<double> scores);

// Paired bootstrap (Koehn 2004): the probability that the choice of sentences alone causes a
// difference as large as the observed one. With the absolute differences d of the resamples, the
// observed absolute difference δ (`difference`), and # for a number of resamples,
//
//   p = (1 + #{d − mean(d) > δ}) / (1 + #{d})
//
// Unlike sacreBLEU, p = 1 if δ = 0. Both score vectors come from bootstrap_scores() with the same
// seed and number of resamples.
double paired_bootstrap(const std::vector<double>& baseline_scores,
                        const std::vector<double>& system_scores, double difference);

// Paired approximate randomisation (Riezler and Maxwell 2005): each trial swaps the two systems'
// translations of each sentence with probability 1/2. With the absolute differences d of the scores
// after swapping, the observed absolute difference δ, and # for a number of trials,
//
//   p = (1 + #{d > δ}) / (1 + #{d})
//
// Unlike sacreBLEU, p = 1 if δ = 0.
double approximate_randomisation(const CorpusMetric& metric, const SentenceCounts& baseline,
                                 const SentenceCounts& system, const Resampling& resampling);

}  // namespace regard
