#include "metrics/by_length.h"

#include <algorithm>

#include "base/error.h"
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

}  // namespace

void check_length_edges(const std::vector<std::size_t>& edges) {
  for (std::size_t b = 1; b < edges.size(); ++b) {
    if (edges[b] > edges[b - 1]) continue;
    throw ConfigError("length edges must ascend, but {} follows {}", edges[b], edges[b - 1]);
  }
}

std::vector<LengthBucket> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<std::string>& hypotheses,
                                          const References& references,
                                          const std::vector<std::size_t>& edges,
                                          const BleuOptions& bleu_options,
                                          const ChrfOptions& chrf_options) {
  if (sources.size() != hypotheses.size()) {
    throw InputError("there are {} source lines, but {} hypotheses: give one for each",
                     sources.size(), hypotheses.size());
  }
  check_length_edges(edges);
  std::vector<LengthBucket> buckets = empty_buckets(edges);
  std::vector<BleuStatistics> bleu_sums(buckets.size());
  std::vector<ChrfStatistics> chrf_sums(buckets.size());
  const auto bleu = bleu_statistics(hypotheses, references, bleu_options);
  const auto chrf = chrf_statistics(hypotheses, references, chrf_options);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t length = split_words(decode_utf8(sources[i])).size();
    const auto edge = std::lower_bound(edges.begin(), edges.end(), length);
    const auto bucket = static_cast<std::size_t>(edge - edges.begin());
    ++buckets[bucket].sentences;
    bleu_sums[bucket] += bleu[i];
    add_to(chrf_sums[bucket], chrf[i]);
  }
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    buckets[b].bleu = bleu_of(bleu_sums[b], bleu_options);
    buckets[b].chrf = chrf_of(chrf_sums[b], chrf_options);
  }
  return buckets;
}

}  // namespace regard
