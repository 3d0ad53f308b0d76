// Decides which translations of a text become training pairs (`regard synthesize`). A pair has a
// line of the text on one side and the model's translation of it on the other.
//
// The score of a translation is its log-probability per token, log P(y | x) / n. n is the number of
// its tokens, including </s>.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "data/duplicate_filter.h"

namespace regard {

// Lengths are numbers of tokens of the model that translates, without </s>.
struct SyntheticFilterOptions {
  std::optional<double> min_score = {};
  std::int64_t min_length = 0;  // of either side
  std::int64_t max_length = 0;  // of either side; 0: no limit
  double max_ratio = 0;         // longer side / shorter side; 0: no limit
  bool keep_unfinished = false;
  bool keep_copies = false;
  bool keep_duplicates = false;
};

// A pair is kept, or dropped for the first of these reasons that applies.
enum class PairFate {
  kept,
  empty,       // a side is blank, or the translation has a line break
  unfinished,  // the translation was cut off at the maximum length
  copy,        // the translation is the text
  too_short,
  too_long,
  high_ratio,
  low_score,
  duplicate,  // an earlier pair is the same
};
inline constexpr std::size_t pair_fates = 9;

// Returns a name for messages and files: "too long".
std::string_view name_of(PairFate fate);

struct TranslatedLine {
  std::string_view text;
  std::string_view translation;
  std::int64_t text_tokens = 0;
  std::int64_t translation_tokens = 0;
  double log_probability = 0;  // of the translation
  bool finished = true;        // the translation ends in </s>
};

// Not thread-safe.
class SyntheticFilter {
 public:
  explicit SyntheticFilter(const SyntheticFilterOptions& options) : options_(options) {}

  // Returns and counts the fate of a pair. `source` and `target` are its lines as they would be
  // written, with which duplicates are found.
  PairFate judge(const TranslatedLine& line, std::string_view source, std::string_view target);
  // Counts a line that was dropped without a translation.
  void count(PairFate fate) { ++counts_[static_cast<std::size_t>(fate)]; }
  // Adds a pair that an earlier process kept, without counting it.
  void add_earlier(std::string_view source, std::string_view target);

  std::int64_t count_of(PairFate fate) const { return counts_[static_cast<std::size_t>(fate)]; }
  // The counts as a JSON object from names to numbers, for PairJournal.
  Json counts() const;
  // Restores counts(). Missing numbers are 0.
  void set_counts(const Json& counts);

 private:
  PairFate fate_of(const TranslatedLine& line) const;

  SyntheticFilterOptions options_;
  std::array<std::int64_t, pair_fates> counts_{};
  DuplicateFilter pairs_;
};

}  // namespace regard
