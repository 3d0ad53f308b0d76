// What a chart is drawn with: text, rules, and the look of its series. Colours, dashes and markers
// differ from series to series, so that none rests on colour alone (palette of Okabe and Ito,
// 2008). They are presentation attributes, which a page's style overrides by the classes line, mark
// and band, c0 to c6.
#pragma once

#include <cstddef>
#include <string>

namespace regard {

std::string text_at(double x, double y, const char* anchor, const std::string& attributes,
                    const std::string& text);
std::string rule(double x1, double y1, double x2, double y2, const std::string& attributes);

// The attributes of series `index`'s line.
std::string stroke(std::size_t index);
// Circle, square, diamond, triangle, in turn; with a tooltip, or none where it is empty.
std::string marker(std::size_t index, double x, double y, const std::string& title);
// The area inside a path.
std::string band(std::size_t index, const std::string& path);

}  // namespace regard
