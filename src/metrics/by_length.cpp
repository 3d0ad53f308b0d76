#include "metrics/by_length.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "text/unicode.h"

namespace regard {

namespace {

std::vector<LengthBucket> empty_buckets(const std::vector<std::size_t>& edges) {
  std::vector<LengthBucket> buckets(edges.size() + 1);
  for (std::size_t b = 0; b < edges.size(); ++b) {
    buckets[b].longest = edges[b];
    buckets[b + 1].shortest = edges[b] + 1;
  }
  return buckets;
}

// Returns the index of the bucket of each source line.
std::vector<std::size_t> bucket_indices(const std::vector<std::string>& sources,
                                        const std::vector<std::size_t>& edges) {
  std::vector<std::size_t> indices;
  for (const auto& line : sources) {
    const auto length = split_words(decode_utf8(line)).size();
    const auto edge = std::lower_bound(edges.begin(), edges.end(), length);
    indices.push_back(static_cast<std::size_t>(edge - edges.begin()));
  }
  return indices;
}

}  // namespace

void check_length_edges(const std::vector<std::size_t>& edges) {
  for (std::size_t b = 1; b < edges.size(); ++b) {
    if (edges[b] > edges[b - 1]) continue;
    throw ConfigError("length edges must ascend, but {} follows {}", edges[b], edges[b - 1]);
  }
}

std::vector<LengthBucket> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<CountedMetric>& metrics,
                                          const std::vector<std::size_t>& edges) {
  check_length_edges(edges);
  auto buckets = empty_buckets(edges);
  const auto indices = bucket_indices(sources, edges);
  for (const auto b : indices) ++buckets[b].sentences;
  for (const auto& [metric, counts] : metrics) {
    if (counts->sentences() != sources.size()) {
      throw InputError("found {}, but {}: give one for each",
                       counted(sources.size(), "source line"),
                       counted(counts->sentences(), "hypothesis"));
    }
    std::vector<std::vector<double>> sums(buckets.size(), std::vector<double>(counts->width));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto sentence = counts->sentence(i);
      auto& sum = sums[indices[i]];
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += sentence[k];
    }
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      buckets[b].scores.push_back(buckets[b].sentences == 0 ? 0 : metric->score(sums[b]));
    }
  }
  return buckets;
}

}  // namespace regard
