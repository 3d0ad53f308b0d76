// Words of which each composed character that stands alone is split into its parts, for text whose
// words are symbols (data.tokenizer.kind decomposed): 한 becomes ᄒ ￭ᅡ ￭ᆫ, é becomes e and ￭ with
// the accent. The parts of a syllable that is rare in the training text are frequent. The joiner ￭
// (U+FFED) begins each part but the first. All functions are thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regard {

// Returns the words of a text, with a space between them, and parts in the place of each word that
// is one composed character. Characters stay whole if their parts do not compose to them again, as
// those that Unicode excludes from composition.
std::string split_composed(std::string_view text);

// True if the token belongs to the word of the token before it.
bool is_later_part(std::string_view token);

// Joins parts and the parts after them: the inverse of split_composed(), except that a word that
// begins with ￭ is joined to the word before it.
std::string join_parts(const std::vector<std::string_view>& tokens);

}  // namespace regard
