// Draws small line charts, as an SVG file on white or as part of a page: learning curves, BLEU by
// source length.
//
// Colours, dashes and markers all differ between series, so that colour is not the only distinction
// (palette of Okabe and Ito, 2008). Colours are SVG attributes, which a page's CSS overrides by the
// classes line, mark and band with c0 to c6.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regard {

using Ticks = std::vector<std::pair<double, std::string>>;  // value and label

// Returns about `count` round numbers that cover [low, high], in steps of 1, 2 or 5 times a power
// of ten. Returns {low} unless low < high.
std::vector<double> round_ticks(double low, double high, int count);

// Returns numbers from {1, 2, 5} times powers of ten (only the powers, if there would be more than
// eight) that cover [low, high], or round_ticks() if the range is too small for them. 0 < low.
std::vector<double> log_ticks(double low, double high, int count);

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // (x, y) by ascending x; NaN leaves a gap
  // The interval (lowest, highest) of y at each point, drawn as a band. Empty, or one per point.
  std::vector<std::pair<double, double>> band = {};
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;
  // Labels for values of x, e.g. {0, "1–10"}; if empty, round numbers are chosen.
  Ticks x_ticks;
  // A value that the y axis includes even if all points are above.
  std::optional<double> y_min;
  // A logarithmic y axis. Ignored if a value is not above 0.
  bool log_y = false;
  double width = 720;   // of the picture, in pixels
  double height = 300;  // of the plot without legend and labels, in pixels
};

// Returns the text of an SVG file. Series of up to 40 points have a marker at each point, with its
// value as a tooltip.
std::string line_chart_svg(const LineChart& chart);
// Returns the chart as an <svg> element for a page (report/page.h), in the page's colours. The page
// shows the values of all series at the pointer.
std::string line_chart_html(const LineChart& chart);

}  // namespace regard
