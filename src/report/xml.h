// Text and numbers in SVG and HTML: escaping, coordinates and estimated text widths.
#pragma once

#include <string>
#include <string_view>

namespace regard {

// Escapes text for use as text and inside quoted attributes. Replaces bytes that are not UTF-8, and
// characters that XML 1.0 forbids or discourages (most control characters), by U+FFFD.
std::string escape_xml(std::string_view text);

// Formats a coordinate with at most two decimals and no trailing zeros: 12, 3.5, -0.25. Values that
// are not finite become 0, so that pictures stay well formed.
std::string format_coordinate(double value);

enum class FontWeight { regular, bold };

// Returns an upper bound of the width of `text` in a sans-serif font, in units of the font size:
// the advance widths of DejaVu Sans, the widest of the fonts that pictures and pages use.
// Characters that DejaVu Sans does not cover count as full squares.
double estimate_text_width(std::string_view text, FontWeight weight = FontWeight::regular);

// Cuts `text` to at most `width` (in units of the font size). A cut text ends with "…".
std::string truncate_to_text_width(std::string_view text, double width,
                                   FontWeight weight = FontWeight::regular);

}  // namespace regard
