#include "report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "report/format.h"
#include "report/xml.h"

namespace regard {
namespace {

constexpr double width = 720.0;
constexpr double bottom_room = 54.0;
constexpr double right_room = 24.0;
constexpr double plot_height = 300.0;
constexpr double legend_row = 20.0;
constexpr std::size_t most_markers = 40;

struct Look {
  const char* color;
  const char* dash;
};
constexpr std::array<Look, 7> looks{{{"#0072b2", ""},
                                     {"#d55e00", ""},
                                     {"#009e73", "7 3"},
                                     {"#cc79a7", "2 3"},
                                     {"#56b4e9", "9 3 2 3"},
                                     {"#e69f00", "7 3"},
                                     {"#000000", "2 3"}}};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Never empty, never (almost) a single value.
  Range opened() const {
    if (low > high) return {0.0, 1.0};
    const double size = std::max(std::abs(low), std::abs(high));
    if (high - low > 1e-9 * size) return *this;
    const double room = size == 0.0 ? 1.0 : size * 0.1;
    return {low - room, high + room};
  }
};

// What can be drawn: finite, and far enough from overflow that differences are too.
bool is_point(const std::pair<double, double>& point) {
  return std::abs(point.first) <= 1e300 && std::abs(point.second) <= 1e300;
}

// The plot's rectangle on the page and the values at its edges.
struct Frame {
  Range x;
  Range y;
  double left = 0.0;
  double top = 0.0;

  double right() const { return width - right_room; }
  double bottom() const { return top + plot_height; }
  double at_x(double value) const {
    return left + (value - x.low) / (x.high - x.low) * (right() - left);
  }
  double at_y(double value) const {
    return bottom() - (value - y.low) / (y.high - y.low) * plot_height;
  }
};

std::string tick_label(double value, double step) {
  if (std::abs(value) >= 1e9 || (value != 0.0 && step < 1e-5)) return fmt::format("{:.3g}", value);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  if (decimals == 0) return format_thousands(std::llround(value));
  return fmt::format("{:.{}f}", std::abs(value) < step / 2.0 ? 0.0 : value, decimals);
}

std::vector<std::pair<double, std::string>> label_ticks(const std::vector<double>& ticks) {
  std::vector<std::pair<double, std::string>> labelled;
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1.0;
  for (const double tick : ticks) labelled.emplace_back(tick, tick_label(tick, step));
  return labelled;
}

std::string text_at(double x, double y, const char* anchor, const std::string& attributes,
                    const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n",
                     format_coordinate(x), format_coordinate(y), anchor, attributes,
                     escape_xml(text));
}

std::string rule(double x1, double y1, double x2, double y2, const std::string& attributes) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", format_coordinate(x1),
                     format_coordinate(y1), format_coordinate(x2), format_coordinate(y2),
                     attributes);
}

std::string stroke(const Look& look) {
  const std::string dash =
      *look.dash ? fmt::format(" stroke-dasharray=\"{}\"", look.dash) : std::string{};
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"{}",
                     look.color, dash);
}

// Circle, square, diamond, triangle, in turn.
std::string marker(std::size_t index, double x, double y, const std::string& title) {
  static constexpr std::array<const char*, 4> shapes{
      "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", "M-3.2 -3.2h6.4v6.4h-6.4z",
      "M0 -4.6L4.6 0L0 4.6L-4.6 0z", "M0 -4.4L4.4 3.4H-4.4z"};
  const std::string tooltip =
      title.empty() ? "" : fmt::format("<title>{}</title>", escape_xml(title));
  return fmt::format(
      "<path transform=\"translate({} {})\" d=\"{}\" fill=\"{}\" stroke=\"#fff\">{}</path>\n",
      format_coordinate(x), format_coordinate(y), shapes[index % shapes.size()],
      looks[index % looks.size()].color, tooltip);
}

std::string draw_series(const LineChart& chart, std::size_t index, const Frame& frame) {
  const Series& series = chart.series[index];
  std::string path;
  std::string markers;
  bool pen_down = false;
  for (const auto& point : series.points) {
    if (!is_point(point)) {
      pen_down = false;
      continue;
    }
    const double x = frame.at_x(point.first);
    const double y = frame.at_y(point.second);
    path +=
        fmt::format("{}{} {}", pen_down ? "L" : "M", format_coordinate(x), format_coordinate(y));
    pen_down = true;
    if (series.points.size() > most_markers) continue;
    std::string where = fmt::format("{:.6g}", point.first);
    for (const auto& [value, name] : chart.x_ticks)
      if (value == point.first) where = name;
    markers +=
        marker(index, x, y, fmt::format("{} at {}: {:.4g}", series.name, where, point.second));
  }
  if (path.empty()) return "";
  return fmt::format("<path d=\"{}\" {}/>\n", path, stroke(looks[index % looks.size()])) + markers;
}

// The legend's rows from `y` down; `height` tells how much they take.
std::string draw_legend(const LineChart& chart, double left, double y, double& height) {
  std::string svg;
  double x = left;
  height = chart.series.empty() ? 0.0 : legend_row;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const double wide = 36.0 + estimate_text_width(chart.series[i].name) * 12.0 + 14.0;
    if (x > left && x + wide > width - right_room) {
      x = left;
      height += legend_row;
    }
    const double middle = y + height - legend_row / 2.0;
    svg += rule(x, middle, x + 28.0, middle, stroke(looks[i % looks.size()]));
    svg += marker(i, x + 14.0, middle, "");
    svg += text_at(x + 35.0, middle + 4.0, "start", "", chart.series[i].name);
    x += wide;
  }
  return svg;
}

std::string draw_axes(const LineChart& chart, const Frame& frame,
                      const std::vector<std::pair<double, std::string>>& x_ticks,
                      const std::vector<std::pair<double, std::string>>& y_ticks) {
  std::string svg;
  for (const auto& [value, name] : y_ticks) {
    const double y = frame.at_y(value);
    svg += rule(frame.left, y, frame.right(), y, "stroke=\"#e4e4e4\"");
    svg += text_at(frame.left - 8.0, y + 4.0, "end", "", name);
  }
  for (const auto& [value, name] : x_ticks) {
    const double x = frame.at_x(value);
    if (x < frame.left - 0.5 || x > frame.right() + 0.5) continue;
    svg += rule(x, frame.bottom(), x, frame.bottom() + 5.0, "stroke=\"#555\"");
    svg += text_at(x, frame.bottom() + 19.0, "middle", "", name);
  }
  svg += rule(frame.left, frame.bottom(), frame.right(), frame.bottom(), "stroke=\"#555\"");
  svg += text_at((frame.left + frame.right()) / 2.0, frame.bottom() + 42.0, "middle", "",
                 chart.x_label);
  const double middle = (frame.top + frame.bottom()) / 2.0;
  svg +=
      text_at(0.0, 0.0, "middle",
              fmt::format(" transform=\"translate(18 {}) rotate(-90)\"", format_coordinate(middle)),
              chart.y_label);
  return svg;
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
  if (!(high > low)) return {low};
  const double raw = (high - low) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double ratio = raw / power;
  const double step = power * (ratio < 1.5 ? 1.0 : ratio < 3.5 ? 2.0 : ratio < 7.5 ? 5.0 : 10.0);
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  for (int i = 0; first + i <= last && i <= 4 * count; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::string line_chart_svg(const LineChart& chart) {
  Range x;
  Range y;
  for (const Series& series : chart.series) {
    for (const auto& point : series.points) {
      if (!is_point(point)) continue;
      x.include(point.first);
      y.include(point.second);
    }
  }
  for (const auto& tick : chart.x_ticks) x.include(tick.first);
  if (chart.y_min) y.include(*chart.y_min);
  if (chart.y_max) y.include(*chart.y_max);
  Frame frame{x.opened(), y.opened(), 0.0, 0.0};
  const auto y_ticks = label_ticks(round_ticks(frame.y.low, frame.y.high, 6));
  frame.y = {y_ticks.front().first, y_ticks.back().first};
  auto x_ticks = chart.x_ticks;
  if (x_ticks.empty()) {
    x_ticks = label_ticks(round_ticks(frame.x.low, frame.x.high, 8));
    // A curve that starts a little after a round number starts its axis there.
    const double step = x_ticks[1].first - x_ticks[0].first;
    if (frame.x.low - x_ticks[0].first < 0.25 * step) frame.x.low = x_ticks[0].first;
  } else {
    const double half = 0.5 * (frame.x.high - frame.x.low) / static_cast<double>(x_ticks.size());
    frame.x = {frame.x.low - half, frame.x.high + half};
  }
  double label_width = 0.0;
  for (const auto& tick : y_ticks)
    label_width = std::max(label_width, estimate_text_width(tick.second) * 12.0);
  frame.left = 42.0 + label_width;
  const double head = chart.title.empty() ? 12.0 : 42.0;
  double legend_height = 0.0;
  const std::string legend = draw_legend(chart, frame.left, head, legend_height);
  frame.top = head + legend_height + 12.0;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-size=\"12\" fill=\"#333\" "
      "font-family=\"system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      format_coordinate(width), format_coordinate(frame.bottom() + bottom_room));
  if (!chart.title.empty())
    svg += text_at(frame.left, 27.0, "start", " font-size=\"16\" font-weight=\"600\"", chart.title);
  svg += legend + draw_axes(chart, frame, x_ticks, y_ticks);
  for (std::size_t i = 0; i < chart.series.size(); ++i) svg += draw_series(chart, i, frame);
  return svg + "</svg>\n";
}

}  // namespace regard
