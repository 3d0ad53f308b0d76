#include "metrics/corpus_metric.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "base/strings.h"

namespace regard {

void check_references(std::size_t hypotheses, const References& references) {
  if (references.empty()) throw InputError("found no reference; give at least one");
  for (std::size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() == hypotheses) continue;
    throw InputError("reference {} has {}, but found {}: give one line for each", r + 1,
                     counted(references[r].size(), "line"), counted(hypotheses, "hypothesis"));
  }
}

std::vector<double> SentenceCounts::sum() const {
  std::vector<double> sums(width);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % width] += values[i];
  return sums;
}

double corpus_score(const CorpusMetric& metric, const std::vector<std::string>& hypotheses,
                    const References& references) {
  return metric.score(metric.count(hypotheses, references).sum());
}

std::vector<NgramCounts> count_ngrams(std::u32string_view symbols, std::size_t max_order) {
  std::vector<std::u32string_view> windows(symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) windows[i] = symbols.substr(i, max_order);
  std::sort(windows.begin(), windows.end());

  std::vector<NgramCounts> orders(max_order);
  for (std::size_t n = 1; n <= max_order; ++n) {
    NgramCounts& counts = orders[n - 1];
    counts.reserve(windows.size());
    for (std::u32string_view window : windows) {
      if (window.size() < n) continue;
      const std::u32string_view ngram = window.substr(0, n);
      if (!counts.empty() && counts.back().ngram == ngram) {
        ++counts.back().count;
      } else {
        counts.push_back({ngram, 1});
      }
    }
  }
  return orders;
}

std::int64_t total_count(const NgramCounts& counts) {
  std::int64_t total = 0;
  for (const CountedNgram& entry : counts) total += entry.count;
  return total;
}

std::int64_t clipped_matches(const NgramCounts& a, const NgramCounts& b) {
  std::int64_t matches = 0;
  for (auto in_a = a.begin(), in_b = b.begin(); in_a != a.end() && in_b != b.end();) {
    const int order = in_a->ngram.compare(in_b->ngram);
    if (order == 0) matches += std::min(in_a->count, in_b->count);
    if (order <= 0) ++in_a;
    if (order >= 0) ++in_b;
  }
  return matches;
}

NgramCounts larger_counts(const NgramCounts& a, const NgramCounts& b) {
  NgramCounts larger;
  larger.reserve(a.size() + b.size());
  auto in_a = a.begin();
  auto in_b = b.begin();
  while (in_a != a.end() && in_b != b.end()) {
    const int order = in_a->ngram.compare(in_b->ngram);
    larger.push_back(order <= 0 ? *in_a : *in_b);
    if (order == 0) larger.back().count = std::max(in_a->count, in_b->count);
    if (order <= 0) ++in_a;
    if (order >= 0) ++in_b;
  }
  larger.insert(larger.end(), in_a, a.end());
  larger.insert(larger.end(), in_b, b.end());
  return larger;
}

std::u32string WordIds::ids(const std::vector<std::u32string_view>& words) {
  std::u32string symbols;
  symbols.reserve(words.size());
  for (std::u32string_view word : words) {
    auto entry = ids_.find(word);
    if (entry == ids_.end()) {
      entry = ids_.emplace(word, static_cast<char32_t>(ids_.size())).first;
    }
    symbols.push_back(entry->second);
  }
  return symbols;
}

}  // namespace regard
