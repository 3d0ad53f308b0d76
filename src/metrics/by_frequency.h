// How well words are translated by how often training has seen them: F1 of the target's words in
// buckets of their frequency in the training text, as in compare-mt (Neubig et al. 2019).
//
// A word is a token as BLEU counts them. Words match within their sentence, as often as both sides
// have them; of several references the first is meant.
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

  // Counts a line of the training text. Whether it has a word.
  bool add(const std::string& line);
  std::uint64_t of(std::u32string_view word) const;

 private:
  BleuOptions options_;
  std::map<std::u32string, std::uint64_t, std::less<>> counts_;
};

struct FrequencyBucket {
  std::uint64_t rarest = 0;                // times in training, both ends included
  std::optional<std::uint64_t> commonest;  // not set: no end
  std::int64_t reference = 0;              // words there
  std::int64_t system = 0;
  std::int64_t matches = 0;

  double precision() const;  // from 0 to 1, 0 where there is no word
  double recall() const;
  double f1() const;
};

// 0 (unseen), 1, 2–4, 5–9, 10–99, 100–999 and 1000 on, empty ones too. Throws InputError where the
// numbers of lines differ.
std::vector<FrequencyBucket> score_by_frequency(const std::vector<std::string>& hypotheses,
                                                const std::vector<std::string>& reference,
                                                const WordFrequencies& frequencies,
                                                const BleuOptions& options = {});

}  // namespace regard
