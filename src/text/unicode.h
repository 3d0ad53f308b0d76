// Unicode as the metrics need it: code points, general categories, white space, lower case.
//
// Categories and case pairs are utf8proc's (2.8: Unicode 15). A character assigned only in a later
// Unicode version is here neither punctuation nor symbol nor number, while a newer library, such as
// the one a recent sacreBLEU uses, may know it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

// The code points of `text`. A byte that belongs to no valid UTF-8 sequence becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);

bool is_punctuation(char32_t c);  // categories P*
bool is_symbol(char32_t c);       // categories S*
bool is_number(char32_t c);       // categories N*
bool is_letter(char32_t c);       // categories L* and M*, marks on letters
// What Python's str.split() takes for white space: Unicode's White_Space and U+001C to U+001F.
bool is_space(char32_t c);

// Returns where the last character begins as a reader sees it, with all of its marks and joiners:
// the last extended grapheme cluster of Unicode annex 29. `text` is not empty.
std::size_t last_character(std::u32string_view text);

// Lower case, one character to one, with the two exceptions of Unicode's SpecialCasing that hold in
// every language: capital I with dot above (U+0130) becomes i and U+0307, and capital sigma at the
// end of a word becomes final sigma, as in Python's str.lower().
std::u32string to_lower(std::u32string_view text);

// The stretches of `text` between white space; none of them is empty. They point into `text`.
std::vector<std::u32string_view> split_words(std::u32string_view text);

}  // namespace regard
