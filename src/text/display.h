// Text as a terminal shows it: which code points make one character together, and how many columns
// that takes. By Unicode's extended grapheme clusters and East Asian Width, as utf8proc has them: a
// combining mark adds nothing, Chinese, Japanese and Korean characters and emoji take two columns.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace regard {

struct Glyph {
  std::string_view text;  // points into the text
  std::size_t columns;    // 0, 1 or 2
};

// A byte that is not UTF-8 is a glyph of one column.
std::vector<Glyph> glyphs_of(std::string_view utf8);

}  // namespace regard
