// Parts of a chart: axis ranges and ticks, text, lines and the styles of series. Colours, dashes
// and markers all differ between series, so that colour is not the only distinction (palette of
// Okabe and Ito, 2008). They are presentation attributes, which a page's CSS overrides by the
// classes line, mark and band, c0 to c6.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace regard {

struct AxisRange {
  double low;
  double high;

  static AxisRange none();  // the empty range
  void include(double value);
  // Returns the range, widened if it is empty or (almost) a single value.
  AxisRange widened() const;
};

using Ticks = std::vector<std::pair<double, std::string>>;  // value and label

// Returns about `count` round numbers that cover [low, high], in steps of 1, 2 or 5 times a power
// of ten.
std::vector<double> round_ticks(double low, double high, int count);
// Labels the ticks with as many decimals as their step needs.
Ticks label_ticks(const std::vector<double>& ticks);

std::string text_at(double x, double y, const char* anchor, const std::string& attributes,
                    const std::string& text);
std::string straight_line(double x1, double y1, double x2, double y2,
                          const std::string& attributes);

// Returns the SVG attributes of the line of series `index`.
std::string stroke(std::size_t index);
// Returns a circle, square, diamond or triangle, by turns, with a tooltip unless `title` is empty.
std::string marker(std::size_t index, double x, double y, const std::string& title);
// Returns the filled area of a path.
std::string band(std::size_t index, const std::string& path);

}  // namespace regard
