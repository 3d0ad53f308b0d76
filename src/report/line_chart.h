// A small line chart as an SVG file on white: learning curves, BLEU by source length.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regard {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // (x, y), by rising x; NaN leaves a gap
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;
  // Names for values of x, e.g. {0, "1–10"}; without them round numbers are chosen.
  std::vector<std::pair<double, std::string>> x_ticks;
  // The lowest and highest y shown at least; otherwise as the values need.
  std::optional<double> y_min;
  std::optional<double> y_max;
};

// Colours, dashes and markers differ from series to series, so that none rests on colour alone
// (palette of Okabe and Ito, 2008). The points of short series tell their values as tooltips.
std::string line_chart_svg(const LineChart& chart);

// About `count` round numbers (1, 2 or 5 times a power of ten apart) that cover [low, high].
std::vector<double> round_ticks(double low, double high, int count);

}  // namespace regard
