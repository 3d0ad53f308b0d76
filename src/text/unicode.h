// UTF-8 and Unicode: validation, code points, general categories, lower case, white space, and the
// width of a character on a terminal.
//
// The data is that of utf8proc (2.8: Unicode 15). A character assigned in a later version of
// Unicode is neither punctuation nor symbol nor number here, although a newer library, such as the
// one that a recent sacreBLEU uses, may know it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

// Returns the offset of the first byte that is not well-formed UTF-8, or npos. Follows Unicode 15,
// table 3-7: overlong forms, surrogates, code points above U+10FFFF and truncated sequences are
// errors. The offset is that of the first byte of the invalid sequence.
std::size_t first_invalid_utf8(std::string_view text);

// Splits well-formed `text` into code points. The results point into `text`.
std::vector<std::string_view> code_points(std::string_view text);

// True if a code point of `text` begins at `at`, which is in the text.
inline bool begins_code_point(std::string_view text, std::size_t at) {
  return (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}
// Returns the code point that begins at `at`.
std::string_view code_point_at(std::string_view text, std::size_t at);
// Returns the start of the code point before `at` > 0.
std::size_t previous_code_point(std::string_view text, std::size_t at);

// Returns the words between runs of ASCII white space, none of them empty. They point into `text`.
// See split_words() for Unicode white space.
std::vector<std::string_view> split_at_ascii_space(std::string_view text);

// True if `text` is empty or consists of Unicode white space.
bool is_blank(std::string_view text);

// True if well-formed `text` has a letter.
bool has_letter(std::string_view text);

// Shortens well-formed `text` for a message: returns its first 40 code points, and an ellipsis if
// there are more. Replaces control characters by U+FFFD.
std::string excerpt(std::string_view text);

// Decodes `text`. Each byte that belongs to no valid UTF-8 sequence becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);

bool is_punctuation(char32_t c);  // categories P*
bool is_symbol(char32_t c);       // categories S*
bool is_number(char32_t c);       // categories N*
bool is_letter(char32_t c);       // categories L* and M*, marks on letters
// True for the white space of Python's str.split(): Unicode's White_Space and U+001C to U+001F.
bool is_space(char32_t c);

// Returns the position where the last extended grapheme cluster (Unicode annex 29) begins: the last
// character as a reader sees it, with its marks and joiners. `text` must not be empty.
std::size_t last_grapheme(std::u32string_view text);

// Returns the text in lower case, as Python's str.lower() does. Each character becomes one
// character by Unicode's simple mapping, except for the two special cases that hold in every
// language (SpecialCasing.txt): capital I with dot above (U+0130) becomes i and U+0307, and capital
// sigma at the end of a word becomes final sigma.
std::u32string to_lower(std::u32string_view text);

// Returns the text with its first character as at the beginning of a sentence (Unicode's simple
// title case).
std::u32string capitalised(std::u32string_view text);

// Returns the canonical decomposition of a text (Unicode NFD), and its composition (NFC).
std::string decomposed(std::string_view text);
std::string composed(std::string_view text);

// Returns the words between runs of white space (is_space), none of them empty. They point into
// `text`.
std::vector<std::u32string_view> split_words(std::u32string_view text);
// Returns the number of these words in UTF-8 text.
std::size_t word_count(std::string_view text);

// An extended grapheme cluster and its width on a terminal by Unicode's East Asian Width: combining
// marks add nothing; Chinese, Japanese and Korean characters and emoji take two columns.
struct Glyph {
  std::string_view text;  // points into the text that was split
  std::size_t columns;    // 0, 1 or 2
};

// Splits `utf8` into glyphs. A byte that is not UTF-8 is a glyph of one column.
std::vector<Glyph> split_glyphs(std::string_view utf8);

}  // namespace regard
