// Counts of n-grams, for BLEU and chrF.
//
// A sentence is a string of symbols: characters, or the ids of words (WordIds).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace regard {

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
