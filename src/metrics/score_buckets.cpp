#include "metrics/score_buckets.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/strings.h"
#include "text/unicode.h"

namespace regard {
namespace {

std::vector<LengthBucket> empty_length_buckets(const std::vector<std::size_t>& edges) {
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
    const auto length = word_count(line);
    const auto edge = std::lower_bound(edges.begin(), edges.end(), length);
    indices.push_back(static_cast<std::size_t>(edge - edges.begin()));
  }
  return indices;
}

// Scores the sentences of each bucket. `indices` has the bucket of each line, which messages call
// `noun`.
template <typename Bucket>
void score_sentences(std::vector<Bucket>& buckets, const std::vector<std::size_t>& indices,
                     const std::vector<CountedMetric>& metrics, const char* noun) {
  for (const auto b : indices) ++buckets[b].sentences;
  for (const auto& [metric, counts] : metrics) {
    if (counts->sentences() != indices.size()) {
      throw InputError("found {}, but {}: give one for each", counted(indices.size(), noun),
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
}

}  // namespace

void check_length_edges(const std::vector<std::size_t>& edges) {
  for (std::size_t b = 1; b < edges.size(); ++b) {
    if (edges[b] > edges[b - 1]) continue;
    throw ConfigError("--by-length: found {} after {}, expected ascending numbers", edges[b],
                      edges[b - 1]);
  }
}

std::vector<LengthBucket> score_by_length(const std::vector<std::string>& sources,
                                          const std::vector<CountedMetric>& metrics,
                                          const std::vector<std::size_t>& edges) {
  check_length_edges(edges);
  auto buckets = empty_length_buckets(edges);
  const auto indices = bucket_indices(sources, edges);
  score_sentences(buckets, indices, metrics, "source line");
  return buckets;
}

std::vector<LabelBucket> score_by_label(const std::vector<std::string>& labels,
                                        const std::vector<CountedMetric>& metrics) {
  std::vector<LabelBucket> buckets;
  std::vector<std::size_t> indices;
  std::map<std::string, std::size_t> known;
  for (const auto& label : labels) {
    const auto [entry, is_new] = known.emplace(label, buckets.size());
    if (is_new) buckets.emplace_back().label = label;
    indices.push_back(entry->second);
  }
  score_sentences(buckets, indices, metrics, "label");
  return buckets;
}

namespace {

constexpr std::array<std::uint64_t, 7> lower_bounds = {0, 1, 2, 5, 10, 100, 1000};

std::vector<FrequencyBucket> empty_frequency_buckets() {
  std::vector<FrequencyBucket> buckets(lower_bounds.size());
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    buckets[b].rarest = lower_bounds[b];
    if (b + 1 < buckets.size()) buckets[b].commonest = lower_bounds[b + 1] - 1;
  }
  return buckets;
}

std::size_t bucket_of(std::uint64_t frequency) {
  const auto* const next = std::ranges::upper_bound(lower_bounds, frequency);
  return static_cast<std::size_t>(next - lower_bounds.begin()) - 1;
}

double line_share(std::int64_t part, std::int64_t total) {
  return total == 0 ? 0 : static_cast<double>(part) / static_cast<double>(total);
}

struct Occurrences {
  std::int64_t reference = 0;
  std::int64_t system = 0;
};

}  // namespace

bool WordFrequencies::add(const std::string& line) {
  const auto text = tokenize_for_bleu(line, options_);
  const auto words = split_words(text);
  for (const auto word : words) ++counts_[std::u32string(word)];
  return !words.empty();
}

std::uint64_t WordFrequencies::count(std::u32string_view word) const {
  const auto entry = counts_.find(word);
  return entry == counts_.end() ? 0 : entry->second;
}

double FrequencyBucket::precision() const {
  return line_share(matches, system);
}
double FrequencyBucket::recall() const {
  return line_share(matches, reference);
}
double FrequencyBucket::f1() const {
  return line_share(2 * matches, system + reference);
}

std::vector<FrequencyBucket> score_by_frequency(const std::vector<std::string>& hypotheses,
                                                const std::vector<std::string>& reference,
                                                const WordFrequencies& frequencies,
                                                const BleuOptions& options) {
  check_references(hypotheses.size(), {reference});
  auto buckets = empty_frequency_buckets();
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto expected = tokenize_for_bleu(reference[i], options);
    const auto hypothesis = tokenize_for_bleu(hypotheses[i], options);
    std::map<std::u32string_view, Occurrences> words;
    for (const auto word : split_words(expected)) ++words[word].reference;
    for (const auto word : split_words(hypothesis)) ++words[word].system;
    for (const auto& [word, counts] : words) {
      auto& bucket = buckets[bucket_of(frequencies.count(word))];
      bucket.reference += counts.reference;
      bucket.system += counts.system;
      bucket.matches += std::min(counts.reference, counts.system);
    }
  }
  return buckets;
}

}  // namespace regard
