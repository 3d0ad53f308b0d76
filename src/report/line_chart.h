// A small line chart, as an SVG file on white or in a page: learning curves, BLEU by source length.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/axis.h"

namespace regard {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // (x, y), by rising x; NaN leaves a gap
  // How sure each point is, (lowest, highest) y, drawn as a band; or none.
  std::vector<std::pair<double, double>> band = {};
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;
  // Names for values of x, e.g. {0, "1–10"}; without them round numbers are chosen.
  Ticks x_ticks;
  // The lowest and highest y shown at least; otherwise as the values need.
  std::optional<double> y_min;
  std::optional<double> y_max;
  double width = 720;
  double height = 300;  // of the plot, without legend and labels
};

// The points of short series tell their values as tooltips.
std::string line_chart_svg(const LineChart& chart);
// The same as a part of a page (report/page.h), in its colours: where the pointer stands it tells
// every series' value.
std::string line_chart_html(const LineChart& chart);

}  // namespace regard
