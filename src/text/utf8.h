// UTF-8 as bytes: where it is broken, and where its code points lie.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

// The offset of the first byte that is not well-formed UTF-8 (Unicode 15, table 3-7: no overlong
// form, no surrogate, nothing above U+10FFFF, nothing cut short), or npos. A sequence that goes
// wrong half-way counts from its first byte.
std::size_t first_invalid_utf8(std::string_view text);

// Each code point of well-formed `text`, as the bytes it stands in. They point into `text`.
std::vector<std::string_view> code_points(std::string_view text);

// Nothing in it, or nothing but Unicode white space.
bool is_blank(std::string_view text);

// For messages: no more than the first 40 code points of well-formed `text`, control characters as
// U+FFFD.
std::string excerpt(std::string_view text);

}  // namespace regard
