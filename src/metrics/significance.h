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
  std::size_t resamples = 1000;
  std::size_t trials = 10'000;
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
ConfidenceInterval confidence_interval(std::vector<double> scores);

// Paired bootstrap (Koehn 2004): the probability that the choice of sentences alone causes a
// difference as large as the observed one. With the absolute differences d of the resamples and the
// observed difference δ,
//
//   p = (1 + #{d − mean(d) > δ}) / (1 + #d)
double paired_bootstrap(const std::vector<double>& baseline_scores,
                        const std::vector<double>& system_scores, double difference);

// Paired approximate randomisation (Riezler and Maxwell 2005): each trial swaps the two systems'
// translations of each sentence with probability 1/2. With the absolute differences d of the scores
// after swapping and the observed difference δ,
//
//   p = (1 + #{d > δ}) / (1 + #d)
double approximate_randomisation(const CorpusMetric& metric, const SentenceCounts& baseline,
                                 const SentenceCounts& system, const Resampling& resampling);

}  // namespace regard
