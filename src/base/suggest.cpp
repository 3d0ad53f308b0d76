#include "base/suggest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <utility>

namespace regard {
namespace {

// In lower case, with "_" for "-" and without leading dashes.
std::string plain(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return result;
}

struct Judgement {
  Likeness likeness;
  std::size_t edits;
  auto operator<=>(const Judgement&) const = default;
};

// `word` and `known` are plain.
std::optional<Judgement> judge(const std::string& word, const std::string& known,
                               const std::vector<std::string_view>& meant) {
  constexpr std::size_t shortest_beginning = 2;
  if (word == known) return Judgement{Likeness::spelling, 0};
  if (const auto place = std::ranges::find(meant, known); place != meant.end()) {
    return Judgement{Likeness::other_name, static_cast<std::size_t>(place - meant.begin())};
  }
  const std::size_t longer = std::max(word.size(), known.size());
  const std::size_t shorter = std::min(word.size(), known.size());
  const std::size_t most = std::min((longer + 1) / 3, word.size() - 1);
  const bool begins = word.size() >= shortest_beginning && known.starts_with(word);
  if (longer - shorter > most && !begins) return std::nullopt;  // so many edits at least
  const std::size_t edits = edit_distance(word, known);
  if (edits == 1 && edits <= most) return Judgement{Likeness::slip, edits};
  if (begins) return Judgement{Likeness::beginning, 0};
  if (edits <= most) return Judgement{Likeness::resemblance, edits};
  return std::nullopt;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table for the prefixes of `a` with i - 2, i - 1 and i bytes.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<LikelyWord> suggest(std::string_view word, const std::vector<std::string>& known) {
  const std::string wanted = plain(word);
  if (wanted.empty()) return std::nullopt;
  const auto meant = other_names(wanted);
  const std::string* best = nullptr;
  std::optional<Judgement> best_judgement;
  for (const std::string& candidate : known) {
    const auto judgement = judge(wanted, plain(candidate), meant);
    if (!judgement || (best_judgement && *judgement >= *best_judgement)) continue;
    best = &candidate;
    best_judgement = judgement;
  }
  if (best == nullptr) return std::nullopt;
  return LikelyWord{*best, best_judgement->likeness};
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  auto found = suggest(word, known);
  return found ? std::optional(std::move(found->word)) : std::nullopt;
}

ConfigError unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return ConfigError("unknown {} '{}': {}there are {}", kind, word,
                     near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(known, ", "));
}

}  // namespace regard
