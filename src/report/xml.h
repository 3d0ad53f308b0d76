// What goes into the SVG and HTML pictures: escaped text and short numbers.
#pragma once

#include <string>
#include <string_view>

namespace regard {

// Safe as text and inside quoted attributes. Bytes that are not UTF-8, and characters that XML 1.0
// does not allow (most control characters), become U+FFFD.
std::string escape_xml(std::string_view text);

// A coordinate with at most two decimals and no trailing zeros: 12, 3.5, -0.25. Whatever is not
// finite becomes 0, so that a picture stays well formed.
std::string format_coordinate(double value);

enum class FontWeight { regular, bold };

// Returns an upper bound of the width of `text` in a sans-serif font, in units of the font size:
// the advance widths of DejaVu Sans, the widest of the fonts that pictures and pages ask for.
// Scripts that DejaVu Sans does not cover count as full squares.
double estimate_text_width(std::string_view text, FontWeight weight = FontWeight::regular);

// Returns `text` if it is at most `width` wide (in units of the font size), otherwise as much of
// its beginning as fits, with "…".
std::string truncate_to_text_width(std::string_view text, double width,
                                   FontWeight weight = FontWeight::regular);

}  // namespace regard
