// "Did you mean …": the known word that a misspelt or foreign one stands for.
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

// How a word comes to mean a known one, the surest first.
enum class Likeness {
  spelling,     // the same letters: upper case, "_" for "-", leading dashes
  other_name,   // what another program calls it (other_names())
  slip,         // one edit away
  beginning,    // the known word begins with it
  resemblance,  // more edits, at most a third of the longer word, rounded up, and not all of it
};

struct LikelyWord {
  std::string word;  // as it is known
  Likeness likeness;
};

// Returns the known word that is most likely meant: the surest likeness, then the fewest edits,
// then the order of `known`. Leading dashes and case do not count. Returns nothing if no word is
// like it: a far-fetched suggestion puzzles more than it helps.
std::optional<LikelyWord> suggest(std::string_view word, const std::vector<std::string>& known);

// The word alone.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// Returns regard's words for a word of JoeyNMT, OpenNMT-py, fairseq, Marian or sacreBLEU: options,
// commands, keys and values of the configuration. `word` is in lower case, with "_" for "-".
std::vector<std::string_view> other_names(std::string_view word);

// "unknown metric 'blue': did you mean 'bleu'? there are bleu, chrf, ter"
ConfigError unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& known);

}  // namespace regard
