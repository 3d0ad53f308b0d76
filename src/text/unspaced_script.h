// Finds text in scripts without spaces between words, such as Chinese.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

// A script without spaces between words. Japanese has kana among its ideographs.
enum class UnspacedScript { chinese, japanese, south_east_asian };

// True for the characters of these scripts.
bool is_unspaced(char32_t c);
// True for the letters and numbers of words that stand between spaces.
bool is_inside_word(char32_t c);
// True if a word may end between two characters without a space: unless both are letters or numbers
// of a script with spaces, or one character for a reader. In text without spaces, each character is
// then a word of its own.
bool is_word_boundary(char32_t before, char32_t after);

// True if most letters of a line are of these scripts and no spaces separate its words: there is
// one word with such letters, or words have more than six on average.
bool is_unspaced_line(std::u32string_view line);

// Returns the space between two sentences of a line: none if one of the characters at the joint is
// Chinese or Japanese, or its punctuation, unless a space stands before the last character, as in
// segmented text. Thai, Lao, Burmese and Khmer have a space between sentences.
std::string_view space_between(std::string_view before, std::string_view after);

// Returns the script of the lines if most of their letters belong to such scripts and the lines are
// not segmented into words. Segmented text has at most six letters per word.
std::optional<UnspacedScript> unspaced_script(const std::vector<std::string>& lines);

// Returns "Chinese", "Japanese", or "Thai, Lao, Burmese or Khmer".
std::string_view language_name(UnspacedScript script);

}  // namespace regard
