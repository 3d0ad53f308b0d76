// How sure a score is, and whether two systems differ: from counts of each sentence alone, for any
// metric, with sacreBLEU's definitions and defaults. (Its random numbers are NumPy's, so that
// figures agree within sampling error.)
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

// The scores of as many test sets, each of as many sentences drawn from this one with replacement
// (Efron 1979). Equal seeds and numbers of sentences draw the same sentences: so scores of two
// systems are paired.
std::vector<double> bootstrap_scores(const CorpusMetric& metric, const SentenceCounts& counts,
                                     const Resampling& resampling);

struct ConfidenceInterval {
  double mean = 0;        // of the resamples
  double half_width = 0;  // half of the way between the ends of the middle 95 %
};
ConfidenceInterval confidence_interval(std::vector<double> scores);

// Paired bootstrap (Koehn 2004): how likely a difference as large as the real one is by the choice
// of sentences alone. With d the absolute differences of the resamples and δ the real one,
//
//   p = (1 + #{d − mean(d) > δ}) / (1 + #d)
double paired_bootstrap(const std::vector<double>& baseline_scores,
                        const std::vector<double>& system_scores, double difference);

// Paired approximate randomisation (Riezler and Maxwell 2005): each trial swaps the two systems'
// translations of each sentence with probability 1/2, and d is the absolute difference of the two.
//
//   p = (1 + #{d > δ}) / (1 + #d)
double approximate_randomisation(const CorpusMetric& metric, const SentenceCounts& baseline,
                                 const SentenceCounts& system, const Resampling& resampling);

}  // namespace regard
