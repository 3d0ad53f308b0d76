#include "text/display.h"

#include <utf8proc.h>

#include <algorithm>

namespace regard {

std::vector<Glyph> glyphs_of(std::string_view utf8) {
  std::vector<Glyph> glyphs;
  utf8proc_int32_t before = 0;
  utf8proc_int32_t state = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    utf8proc_int32_t point = 0;
    const auto length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()) + at,
                         static_cast<utf8proc_ssize_t>(utf8.size() - at), &point);
    const bool valid = length > 0;
    if (!valid) point = 0xFFFD;
    const auto bytes = valid ? static_cast<std::size_t>(length) : 1;
    const auto columns = static_cast<std::size_t>(std::max(0, utf8proc_charwidth(point)));
    if (glyphs.empty() || utf8proc_grapheme_break_stateful(before, point, &state)) {
      glyphs.push_back({utf8.substr(at, bytes), columns});
    } else {
      auto& glyph = glyphs.back();
      glyph.text = {glyph.text.data(), glyph.text.size() + bytes};
      // U+FE0F asks for the wide picture of a character.
      glyph.columns = point == 0xFE0F ? 2 : std::min<std::size_t>(2, glyph.columns + columns);
    }
    before = point;
    at += bytes;
  }
  return glyphs;
}

}  // namespace regard
