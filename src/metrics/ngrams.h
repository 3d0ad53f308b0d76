// The n-grams of a sentence, counted: what BLEU and chrF have in common.
//
// A sentence is a string of symbols: the characters themselves, or words numbered by WordNumbers.
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

// The counts of each order from 1 to max_order, order n at index n - 1. The n-grams point into
// `symbols`, which must outlive them. One sort of the windows of max_order symbols serves every
// order, as the n-grams are their prefixes.
std::vector<NgramCounts> count_ngrams(std::u32string_view symbols, std::size_t max_order);

// Σ count: how many n-grams there are, repetitions included.
std::int64_t total_count(const NgramCounts& counts);
// Σ min(count in a, count in b): the matches, clipped.
std::int64_t clipped_matches(const NgramCounts& a, const NgramCounts& b);
// Every n-gram of either with the larger of its counts.
NgramCounts larger_counts(const NgramCounts& a, const NgramCounts& b);

// Gives equal words equal numbers.
class WordNumbers {
 public:
  std::u32string number(const std::vector<std::u32string_view>& words);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::u32string_view word) const {
      return std::hash<std::u32string_view>()(word);
    }
  };
  std::unordered_map<std::u32string, char32_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace regard
