// F1 of target words by their frequency in the training text, as in compare-mt (Neubig et al.
// 2019).
//
// Words are the tokens of BLEU. They match within a sentence, with clipped counts. Only the first
// reference is used.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/bleu.h"

namespace regard {

class WordFrequencies {
 public:
  explicit WordFrequencies(const BleuOptions& options) : options_(options) {}

  // Counts the words of a training line. Returns true if there are any.
  bool add(const std::string& line);
  std::uint64_t count(std::u32string_view word) const;

 private:
  BleuOptions options_;
  std::map<std::u32string, std::uint64_t, std::less<>> counts_;
};

struct FrequencyBucket {
  std::uint64_t rarest = 0;                // occurrences in training, inclusive
  std::optional<std::uint64_t> commonest;  // inclusive; not set: unbounded
  std::int64_t reference = 0;              // words in the reference
  std::int64_t system = 0;
  std::int64_t matches = 0;

  double precision() const;  // from 0 to 1; 0 if there are no words
  double recall() const;
  double f1() const;
};

// Returns the buckets 0 (unseen), 1, 2–4, 5–9, 10–99, 100–999 and from 1000, including empty ones.
// Throws InputError if the numbers of lines differ.
std::vector<FrequencyBucket> score_by_frequency(const std::vector<std::string>& hypotheses,
                                                const std::vector<std::string>& reference,
                                                const WordFrequencies& frequencies,
                                                const BleuOptions& options = {});

}  // namespace regard
