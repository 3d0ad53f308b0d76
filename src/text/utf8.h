// UTF-8 as bytes: validation, code points, and splitting at white space.
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

// Returns the words between runs of ASCII white space, none of them empty. They point into `text`.
// split_words() in text/unicode.h splits at Unicode white space.
std::vector<std::string_view> split_at_ascii_space(std::string_view text);

// True if `text` is empty or consists of Unicode white space.
bool is_blank(std::string_view text);

// Shortens well-formed `text` for a message: returns its first 40 code points, with control
// characters replaced by U+FFFD.
std::string excerpt(std::string_view text);

}  // namespace regard
