// "Did you mean …": finds the known word for a misspelt word or a synonym.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace regard {

// Returns the restricted Damerau–Levenshtein distance (optimal string alignment) in bytes:
// insertions, deletions, substitutions and transpositions of adjacent bytes cost 1, and no
// substring is edited twice.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Kinds of similarity to a known word, the strongest first.
enum class Similarity {
  equal,          // equal if case, leading dashes and the difference of "_" and "-" are ignored
  synonym,        // a name from another toolkit; see synonyms()
  one_edit,       // one edit away
  prefix,         // a prefix of the known word
  several_edits,  // at most round(n / 3) edits, where n is the length of the longer word in bytes,
                  // and fewer edits than the misspelt word has bytes
};

struct Suggestion {
  std::string word;  // as in the list of known words
  Similarity similarity;
};

// Returns the most similar known word: by kind of similarity, then fewest edits (or the order of
// synonyms()), then the order of `known`. Returns nullopt if no word is similar.
std::optional<Suggestion> suggest(std::string_view word, const std::vector<std::string>& known);

// Returns suggest(word, known)->word; nullopt if no word is similar.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// Returns "; did you mean `x`?" with the nearest word, or "" if no word is similar.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// Returns regard's names (commands, options, configuration keys and values) for a name in JoeyNMT,
// OpenNMT-py, fairseq, Marian, sacreBLEU or Hugging Face; empty if there are none. The most likely
// is first. `word` must be in lower case, with "_" for "-".
std::vector<std::string_view> synonyms(std::string_view word);

// Returns an error such as "unknown metric 'blue'; did you mean 'bleu'? Known: bleu, ter".
ConfigError unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& known);

}  // namespace regard
