// "Did you mean …": the known word that a misspelt one is nearest to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace regard {

// Damerau–Levenshtein distance of the two byte strings, in its restricted form (optimal string
// alignment): insertions, deletions, substitutions and swaps of neighbours cost 1 each, and no
// place is edited twice.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The first of the nearest known words, ASCII case not counting. None when more than a third of
// the longer one, rounded up, would have to change, or all of the word: then a suggestion puzzles
// more than it helps.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// "unknown metric 'blue': did you mean 'bleu'? there are bleu, chrf, ter"
ConfigError unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& known);

}  // namespace regard
