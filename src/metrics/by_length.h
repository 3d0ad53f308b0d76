// Scores by the length of the source: how a model fares as sentences grow, as in the figures that
// made the case for attention (Bahdanau et al. 2015).
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
  std::size_t shortest = 0;            // source words, both ends included
  std::optional<std::size_t> longest;  // not set: no end
  std::size_t sentences = 0;
  std::vector<double> scores;  // of these sentences as one corpus, one a metric; 0 without any
};

// Throws ConfigError if the edges do not ascend.
void check_length_edges(const std::vector<std::size_t>& edges);

// Returns one bucket up to each edge and one beyond the last, empty ones too: edges {10, 20} give
// 0–10, 11–20 and 21 on. Source words are separated by white space. Throws InputError if a metric
// has counted another number of sentences, ConfigError if the edges do not ascend.
std::vector<LengthBucket> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<CountedMetric>& metrics,
                                          const std::vector<std::size_t>& edges);

}  // namespace regard
