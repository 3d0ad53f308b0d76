#include "base/suggest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <utility>

#include "base/strings.h"

namespace regard {
namespace {

// Returns the word in lower case, with "_" for "-" and without leading dashes.
std::string normalize(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  auto result = lower_ascii(word);
  std::ranges::replace(result, '-', '_');
  return result;
}

struct Match {
  Similarity similarity;
  std::size_t rank;  // edits, or the position in the list of synonyms; lower is better
  auto operator<=>(const Match&) const = default;
};

// Compares two normalized, non-empty words. `word_synonyms` is synonyms(word). Returns nullopt if
// they are not similar.
std::optional<Match> match(const std::string& word, const std::string& known,
                           const std::vector<std::string_view>& word_synonyms) {
  constexpr std::size_t min_prefix = 2;
  if (word == known) return Match{Similarity::equal, 0};
  if (const auto found = std::ranges::find(word_synonyms, known); found != word_synonyms.end()) {
    return Match{Similarity::synonym, static_cast<std::size_t>(found - word_synonyms.begin())};
  }
  const std::size_t longer = std::max(word.size(), known.size());
  const std::size_t shorter = std::min(word.size(), known.size());
  // Fewer edits than bytes: at least one byte of the word must be right.
  const std::size_t max_edits = std::min((longer + 1) / 3, word.size() - 1);
  const bool is_prefix = word.size() >= min_prefix && known.starts_with(word);
  // The difference of the lengths is a lower bound of the edit distance, and cheap to compute.
  if (longer - shorter > max_edits && !is_prefix) return std::nullopt;
  const std::size_t edits = edit_distance(word, known);
  if (edits == 1 && edits <= max_edits) return Match{Similarity::one_edit, edits};
  if (is_prefix) return Match{Similarity::prefix, 0};
  if (edits <= max_edits) return Match{Similarity::several_edits, edits};
  return std::nullopt;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows i - 2, i - 1 and i of the dynamic programming table; row i has the distances
  // of the first i bytes of `a` to each prefix of `b`.
  std::vector<std::size_t> row_minus_2(b.size() + 1), row_minus_1(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row_minus_2.swap(row_minus_1);
    row_minus_1.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution_cost = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] =
          std::min({row_minus_1[j] + 1, row[j - 1] + 1, row_minus_1[j - 1] + substitution_cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], row_minus_2[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<Suggestion> suggest(std::string_view word, const std::vector<std::string>& known) {
  const std::string normalized_word = normalize(word);
  if (normalized_word.empty()) return std::nullopt;
  const auto word_synonyms = synonyms(normalized_word);
  const std::string* best = nullptr;
  std::optional<Match> best_match;
  for (const std::string& candidate : known) {
    const auto candidate_match = match(normalized_word, normalize(candidate), word_synonyms);
    if (!candidate_match || (best_match && *candidate_match >= *best_match)) continue;
    best = &candidate;
    best_match = candidate_match;
  }
  if (best == nullptr) return std::nullopt;
  return Suggestion{*best, best_match->similarity};
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  auto suggestion = suggest(word, known);
  return suggestion ? std::optional(std::move(suggestion->word)) : std::nullopt;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto suggested = nearest(word, known);
  return suggested ? fmt::format("; did you mean `{}`?", *suggested) : "";
}

ConfigError unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& known) {
  const auto suggested = nearest(word, known);
  const auto names = fmt::format("{}", fmt::join(known, ", "));
  if (!suggested) return ConfigError("unknown {} '{}': expected {}", kind, word, names);
  return ConfigError("unknown {} '{}'; did you mean '{}'? Known: {}", kind, word, *suggested,
                     names);
}

}  // namespace regard
