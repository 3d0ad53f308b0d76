// Word, character and phone error rate, the usual scores of speech recognition and of
// grapheme-to-phoneme conversion:
//
//   100 · Σ (substitutions + deletions + insertions) / Σ symbols of the reference
//
// with the smallest number of such edits from the reference to the hypothesis (Levenshtein 1966).
// Symbols are words separated by white space (WER), phones separated by white space (PER, the same
// count), or code points, without white space at both ends (CER). Nothing is normalised: case and
// punctuation count. With several references, the smallest number of edits is divided by their mean
// length. 0 is best; there is no upper bound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/corpus_metric.h"

namespace regard {

struct EditCounts {
  std::int64_t substitutions = 0;
  std::int64_t deletions = 0;   // symbols of the reference that the hypothesis lacks
  std::int64_t insertions = 0;  // symbols that only the hypothesis has

  std::int64_t sum() const { return substitutions + deletions + insertions; }
  bool operator==(const EditCounts&) const = default;
};

// Returns the smallest edits. Of several such, prefers substitutions, then deletions.
EditCounts count_edits(std::u32string_view reference, std::u32string_view hypothesis);

class ErrorRate final : public CorpusMetric {
 public:
  enum class Symbols { words, characters, phones };
  explicit ErrorRate(Symbols symbols) : symbols_(symbols) {}

  std::string name() const override;
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  // If the references have no symbols, the score is 100 if there are edits and 0 otherwise.
  double score(std::span<const double> sums) const override;
  Json to_json(std::span<const double> sums) const override;

 private:
  Symbols symbols_;
};

// Exact match, for short outputs of which one is right, such as captions of drawn scenes:
//
//   100 · (lines that are equal to a reference) / lines
//
// Lines are compared byte by byte; nothing is normalised. 100 is best. The score of no lines is 0.
class ExactMatch final : public CorpusMetric {
 public:
  std::string name() const override { return "exact"; }
  std::string signature(std::size_t references) const override;
  SentenceCounts count(const std::vector<std::string>& hypotheses,
                       const References& references) const override;
  double score(std::span<const double> sums) const override;
  Json to_json(std::span<const double> sums) const override;
};

}  // namespace regard
