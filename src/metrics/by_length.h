// Scores by the length of the source sentence, as in the comparison of Bahdanau et al. (2015).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "metrics/corpus_metric.h"

namespace regard {

// A metric and its counts for each sentence.
struct CountedMetric {
  const CorpusMetric* metric;
  const SentenceCounts* counts;
};

struct LengthBucket {
  std::size_t shortest = 0;            // source words, inclusive
  std::optional<std::size_t> longest;  // inclusive; not set: unbounded
  std::size_t sentences = 0;
  std::vector<double>
      scores;  // one per metric, of these sentences as a corpus; 0 if there are none
};

// Throws ConfigError if the edges do not ascend.
void check_length_edges(const std::vector<std::size_t>& edges);

// Returns one bucket up to each edge and one above the last, including empty ones: the buckets of
// the edges {10, 20} are 0–10, 11–20 and from 21. Source words are separated by white space. Throws
// InputError if the counts of a metric have another number of sentences, ConfigError if the edges
// do not ascend.
std::vector<LengthBucket> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<CountedMetric>& metrics,
                                          const std::vector<std::size_t>& edges);

}  // namespace regard
