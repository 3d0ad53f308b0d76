#include "base/suggest.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace regard {
namespace {

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
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

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  const std::string wanted = lower(word);
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : known) {
    const std::size_t length = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (length - shorter > (length + 1) / 3) continue;  // no distance is less than that
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    const bool near = distance <= (length + 1) / 3 && distance < word.size();
    if (near && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

ConfigError unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return ConfigError("unknown {} '{}': {}there are {}", kind, word,
                     near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(known, ", "));
}

}  // namespace regard
