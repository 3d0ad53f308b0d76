// The interface of metrics of translations, and the n-gram counts that several of them need.
//
// A metric is computed in two steps: count() returns a fixed number of counts for each sentence,
// and score() maps their sums over a set of sentences to the score of that set. Resampling, tables
// and JSON use only this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"

namespace regard {

// references[r][i]: the r-th reference of sentence i.
using References = std::vector<std::vector<std::string>>;

// Throws InputError if there is no reference, or if a reference does not have as many lines as
// there are hypotheses.
void check_references(std::size_t hypotheses, const References& references);

struct SentenceCounts {
  std::size_t width = 0;       // counts per sentence
  std::vector<double> values;  // [sentences, width]

  std::size_t sentences() const { return values.size() / width; }
  std::span<const double> sentence(std::size_t i) const {
    return std::span(values).subspan(i * width, width);
  }
  // Returns the sum over all sentences, [width].
  std::vector<double> sum() const;
};

class CorpusMetric {
 public:
  virtual ~CorpusMetric() = default;

  virtual std::string name() const = 0;  // "BLEU", "chrF2++", "TER"
  // Returns sacreBLEU's signature for this number of references: "nrefs:…" first, "version:…" last.
  virtual std::string signature(std::size_t references) const = 0;
  // Returns the counts of each sentence. Throws InputError if the numbers of lines differ.
  virtual SentenceCounts count(const std::vector<std::string>& hypotheses,
                               const References& references) const = 0;
  // Returns the score of a set of sentences, from the sums of their counts.
  virtual double score(std::span<const double> sums) const = 0;
  // Returns the text that sacreBLEU prints after the score, or an empty string.
  virtual std::string details(std::span<const double> /*sums*/) const { return {}; }
  // Returns the score and its components.
  virtual Json to_json(std::span<const double> sums) const = 0;
};

// Returns the score of all sentences. Throws InputError if the numbers of lines differ.
double corpus_score(const CorpusMetric& metric, const std::vector<std::string>& hypotheses,
                    const References& references);

// An n-gram of symbols: characters, or the ids of words (WordIds).
struct CountedNgram {
  std::u32string_view ngram;
  std::int64_t count;
};

// Distinct n-grams of one order, in ascending order.
using NgramCounts = std::vector<CountedNgram>;

// Counts the n-grams of each order from 1 to max_order; order n is at index n - 1. The n-grams
// point into `symbols`, which must outlive them. The windows of max_order symbols are sorted once,
// as the n-grams of all orders are their prefixes.
std::vector<NgramCounts> count_ngrams(std::u32string_view symbols, std::size_t max_order);

// Returns Σ count, the number of n-grams including repetitions.
std::int64_t total_count(const NgramCounts& counts);
// Returns Σ min(count in a, count in b), the clipped matches.
std::int64_t clipped_matches(const NgramCounts& a, const NgramCounts& b);
// Returns every n-gram of a or b with the larger of its counts.
NgramCounts larger_counts(const NgramCounts& a, const NgramCounts& b);

// Assigns an id to each distinct word.
class WordIds {
 public:
  // Returns the ids of `words`. Equal words have equal ids in all calls.
  std::u32string ids(const std::vector<std::u32string_view>& words);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::u32string_view word) const {
      return std::hash<std::u32string_view>()(word);
    }
  };
  std::unordered_map<std::u32string, char32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace regard
