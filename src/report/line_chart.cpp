#include "report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "report/format.h"
#include "report/xml.h"

namespace regard {
namespace {

std::string tick_label(double value, double step) {
  if (std::abs(value) >= 1e9 || (value != 0.0 && step < 1e-5)) return fmt::format("{:.3g}", value);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  if (decimals == 0) return format_thousands(std::llround(value));
  return fmt::format("{:.{}f}", std::abs(value) < step / 2.0 ? 0.0 : value, decimals);
}

struct SeriesStyle {
  const char* color;
  const char* dash;
};
constexpr std::array<SeriesStyle, 7> styles{{{"#0072b2", ""},
                                             {"#d55e00", ""},
                                             {"#009e73", "7 3"},
                                             {"#cc79a7", "2 3"},
                                             {"#56b4e9", "9 3 2 3"},
                                             {"#e69f00", "7 3"},
                                             {"#000000", "2 3"}}};

struct AxisRange {
  double low;
  double high;

  static AxisRange none();  // the empty range
  void include(double value);
  // Returns the range, widened if it is empty or (almost) a single value.
  AxisRange widened() const;
};

AxisRange AxisRange::none() {
  return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
}

void AxisRange::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

AxisRange AxisRange::widened() const {
  if (low > high) return {0.0, 1.0};
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low > 1e-9 * size) return *this;
  const double room = size == 0.0 ? 1.0 : size * 0.1;
  return {low - room, high + room};
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

std::vector<double> log_ticks(double low, double high, int count) {
  const auto linear = round_ticks(low, high, count);
  if (high < 3.0 * low && linear.front() > 0.0) return linear;
  constexpr std::array<double, 3> mantissas{1.0, 2.0, 5.0};
  constexpr std::size_t most = 8;
  const auto first = static_cast<int>(std::floor(std::log10(low)));
  const auto last = static_cast<int>(std::ceil(std::log10(high)));
  for (const auto& steps : {std::span<const double>(mantissas), std::span(mantissas).first(1)}) {
    const int stride = steps.size() > 1 ? 1 : 1 + (last - first) / static_cast<int>(most);
    std::vector<double> ticks;
    for (int power = first; ticks.empty() || ticks.back() < high; power += stride) {
      for (const double mantissa : steps) {
        const double tick = mantissa * std::pow(10.0, power);
        if (tick <= low * (1 + 1e-9)) ticks.clear();  // the next one may be nearer
        if (ticks.empty() || ticks.back() < high) ticks.push_back(tick);
      }
    }
    if (ticks.size() <= most || steps.size() == 1) return ticks;
  }
  return linear;
}

namespace {

// Labels the ticks with as many decimals as their step needs.
Ticks label_ticks(const std::vector<double>& ticks) {
  Ticks labelled;
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1.0;
  for (const double tick : ticks) labelled.emplace_back(tick, tick_label(tick, step));
  return labelled;
}

// Labels ticks of different distances.
Ticks label_log_ticks(const std::vector<double>& ticks) {
  Ticks labelled;
  for (const double tick : ticks) {
    labelled.emplace_back(tick, tick >= 1000.0 && tick < 1e9 ? format_thousands(std::llround(tick))
                                                             : fmt::format("{:.6g}", tick));
  }
  return labelled;
}

std::string text_at(double x, double y, const char* anchor, const std::string& attributes,
                    const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n",
                     format_coordinate(x), format_coordinate(y), anchor, attributes,
                     escape_xml(text));
}

std::string straight_line(double x1, double y1, double x2, double y2,
                          const std::string& attributes) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", format_coordinate(x1),
                     format_coordinate(y1), format_coordinate(x2), format_coordinate(y2),
                     attributes);
}

// Returns the SVG attributes of the line of series `index`.
std::string stroke(std::size_t index) {
  const SeriesStyle& style = styles[index % styles.size()];
  const std::string dash =
      *style.dash ? fmt::format(" stroke-dasharray=\"{}\"", style.dash) : std::string{};
  return fmt::format(
      "class=\"line c{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
      "stroke-linejoin=\"round\"{}",
      index % styles.size(), style.color, dash);
}

// Returns a circle, square, diamond or triangle, by turns, with a tooltip unless `title` is empty.
std::string marker(std::size_t index, double x, double y, const std::string& title) {
  static constexpr std::array<const char*, 4> shapes{
      "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", "M-3.2 -3.2h6.4v6.4h-6.4z",
      "M0 -4.6L4.6 0L0 4.6L-4.6 0z", "M0 -4.4L4.4 3.4H-4.4z"};
  const std::string tooltip =
      title.empty() ? "" : fmt::format("<title>{}</title>", escape_xml(title));
  return fmt::format(
      "<path class=\"mark c{}\" transform=\"translate({} {})\" d=\"{}\" fill=\"{}\" "
      "stroke=\"#fff\">{}</path>\n",
      index % styles.size(), format_coordinate(x), format_coordinate(y),
      shapes[index % shapes.size()], styles[index % styles.size()].color, tooltip);
}

// Returns the filled area of a path.
std::string band(std::size_t index, const std::string& path) {
  return fmt::format(
      "<path class=\"band c{0}\" d=\"{1}\" fill=\"{2}\" fill-opacity=\"0.18\" stroke=\"{2}\" "
      "stroke-opacity=\"0.35\"/>\n",
      index % styles.size(), path, styles[index % styles.size()].color);
}

constexpr double chart_font_size = 12.0;
constexpr double title_size = 16.0;
constexpr double edge = 4.0;               // between text and the picture's edge
constexpr double min_right_margin = 24.0;  // right of the plot
constexpr double legend_row = 20.0;
constexpr std::size_t max_markers = 40;

// True if the point is finite and far enough from overflow that differences are finite too.
bool is_drawable(const std::pair<double, double>& point) {
  return std::abs(point.first) <= 1e300 && std::abs(point.second) <= 1e300;
}

double text_width(const std::string& text) {
  return estimate_text_width(text) * chart_font_size;
}

// Returns the room that a centred label needs beside its tick: half of the widest label and the
// edge.
double room_beside(const Ticks& ticks) {
  double widest = 0.0;
  for (const auto& tick : ticks) widest = std::max(widest, text_width(tick.second));
  return widest / 2.0 + edge;
}

// The plot's rectangle in pixels and the values at its edges.
struct Frame {
  AxisRange x;
  AxisRange y;
  double left = 0.0;
  double right = 0.0;
  double top = 0.0;
  double bottom = 0.0;
  bool log_y = false;

  double at_x(double value) const {
    return left + (value - x.low) / (x.high - x.low) * (right - left);
  }
  double at_y(double value) const {
    const auto part = log_y ? std::log(value / y.low) / std::log(y.high / y.low)
                            : (value - y.low) / (y.high - y.low);
    return bottom - part * (bottom - top);
  }
};

// Returns the label of the axis at x, or x as text.
std::string x_text(const LineChart& chart, double x) {
  for (const auto& [value, name] : chart.x_ticks)
    if (value == x) return name;
  return x == std::floor(x) && std::abs(x) < 1e9 ? format_thousands(std::llround(x))
                                                 : fmt::format("{:.6g}", x);
}

// Draws the band along its upper edge and back along the lower one. A gap in the points is also a
// gap in the band.
std::string draw_band(const Series& series, std::size_t index, const Frame& frame) {
  std::string path;
  std::string back;
  const auto close = [&] {
    if (!back.empty()) path += back + "Z";
    back.clear();
  };
  for (std::size_t i = 0; i < series.band.size(); ++i) {
    const auto& [low, high] = series.band[i];
    if (!is_drawable(series.points[i]) || !is_drawable({low, high})) {
      close();
      continue;
    }
    const auto x = format_coordinate(frame.at_x(series.points[i].first));
    path +=
        fmt::format("{}{} {}", back.empty() ? "M" : "L", x, format_coordinate(frame.at_y(high)));
    back.insert(0, fmt::format("L{} {}", x, format_coordinate(frame.at_y(low))));
  }
  close();
  if (path.empty()) return "";
  return band(index, path);
}

// Draws a curve with its band and markers. On a page, the path has the attribute data-values for
// the page's script: "x|y|x label|value" of each point, separated by semicolons.
std::string draw_series(const LineChart& chart, std::size_t index, const Frame& frame,
                        bool for_page) {
  const Series& series = chart.series[index];
  std::string path;
  std::string markers;
  std::string values;
  bool pen_down = false;
  for (const auto& point : series.points) {
    if (!is_drawable(point)) {
      pen_down = false;
      continue;
    }
    const auto x = format_coordinate(frame.at_x(point.first));
    const auto y = format_coordinate(frame.at_y(point.second));
    path += fmt::format("{}{} {}", pen_down ? "L" : "M", x, y);
    pen_down = true;
    const auto where = x_text(chart, point.first);
    values +=
        fmt::format("{}{}|{}|{}|{:.4g}", values.empty() ? "" : ";", x, y, where, point.second);
    if (series.points.size() > max_markers) continue;
    markers +=
        marker(index, frame.at_x(point.first), frame.at_y(point.second),
               for_page ? "" : fmt::format("{} at {}: {:.4g}", series.name, where, point.second));
  }
  if (path.empty()) return "";
  const auto data = for_page ? fmt::format(" data-name=\"{}\" data-values=\"{}\"",
                                           escape_xml(series.name), escape_xml(values))
                             : "";
  return draw_band(series, index, frame) +
         fmt::format("<path d=\"{}\" {}{}/>\n", path, stroke(index), data) + markers;
}

// Draws the legend's rows from `y` down and stores their height in `height`. A single series
// without a name has no legend.
std::string draw_legend(const LineChart& chart, double left, double y, double& height) {
  std::string svg;
  double x = left;
  const bool has_legend =
      chart.series.size() > 1 || (chart.series.size() == 1 && !chart.series[0].name.empty());
  height = has_legend ? legend_row : 0.0;
  constexpr double before = 35.0;  // the line with its marker
  for (std::size_t i = 0; has_legend && i < chart.series.size(); ++i) {
    const auto name = truncate_to_text_width(
        chart.series[i].name, (chart.width - left - before - edge) / chart_font_size);
    const double end = x + before + text_width(name);
    if (x > left && end > chart.width - edge) {
      x = left;
      height += legend_row;
    }
    const double middle = y + height - legend_row / 2.0;
    svg += straight_line(x, middle, x + 28.0, middle, stroke(i));
    if (chart.series[i].points.size() <= max_markers) svg += marker(i, x + 14.0, middle, "");
    svg += text_at(x + before, middle + 4.0, "start", "", name);
    x += before + text_width(name) + 15.0;
  }
  return svg;
}

std::string draw_axes(const LineChart& chart, const Frame& frame, const Ticks& x_ticks,
                      const Ticks& y_ticks) {
  std::string svg;
  for (const auto& [value, name] : y_ticks) {
    const double y = frame.at_y(value);
    svg += straight_line(frame.left, y, frame.right, y, "class=\"grid\" stroke=\"#e4e4e4\"");
    svg += text_at(frame.left - 8.0, y + 4.0, "end", "", name);
  }
  for (const auto& [value, name] : x_ticks) {
    const double x = frame.at_x(value);
    if (x < frame.left - 0.5 || x > frame.right + 0.5) continue;
    svg += straight_line(x, frame.bottom, x, frame.bottom + 5.0, "class=\"axis\" stroke=\"#555\"");
    svg += text_at(x, frame.bottom + 19.0, "middle", "", name);
  }
  svg += straight_line(frame.left, frame.bottom, frame.right, frame.bottom,
                       "class=\"axis\" stroke=\"#555\"");
  if (!chart.x_label.empty()) {
    const double middle = (frame.left + frame.right) / 2.0;
    const double room = 2.0 * (std::min(middle, chart.width - middle) - edge) / chart_font_size;
    svg += text_at(middle, frame.bottom + 42.0, "middle", "",
                   truncate_to_text_width(chart.x_label, room));
  }
  if (chart.y_label.empty()) return svg;
  const double middle = (frame.top + frame.bottom) / 2.0;
  return svg + text_at(0.0, 0.0, "middle",
                       fmt::format(" transform=\"translate(18 {}) rotate(-90)\"",
                                   format_coordinate(middle)),
                       truncate_to_text_width(chart.y_label, frame.bottom / chart_font_size - 2.0));
}

// The title begins above the plot, or further left if it is long.
std::string draw_title(const LineChart& chart, const Frame& frame) {
  const auto title = truncate_to_text_width(chart.title, (chart.width - 2.0 * edge) / title_size,
                                            FontWeight::bold);
  const double width = estimate_text_width(title, FontWeight::bold) * title_size;
  return text_at(std::min(frame.left, chart.width - edge - width), 27.0, "start",
                 " font-size=\"16\" font-weight=\"600\"", title);
}

// Computes the ranges of all values, extended to round numbers.
void compute_ranges(const LineChart& chart, Frame& frame, Ticks& x_ticks, Ticks& y_ticks) {
  auto x = AxisRange::none();
  auto y = AxisRange::none();
  for (const Series& series : chart.series) {
    for (const auto& point : series.points) {
      if (!is_drawable(point)) continue;
      x.include(point.first);
      y.include(point.second);
    }
    for (const auto& band : series.band) {
      if (!is_drawable(band)) continue;
      y.include(band.first);
      y.include(band.second);
    }
  }
  for (const auto& tick : chart.x_ticks) x.include(tick.first);
  if (chart.y_min) y.include(*chart.y_min);
  frame.x = x.widened();
  frame.y = y.widened();
  const int rows = static_cast<int>(chart.height / 50);
  frame.log_y = chart.log_y && frame.y.low > 0.0;
  y_ticks = frame.log_y ? label_log_ticks(log_ticks(frame.y.low, frame.y.high, rows))
                        : label_ticks(round_ticks(frame.y.low, frame.y.high, rows));
  frame.y = {y_ticks.front().first, y_ticks.back().first};
  x_ticks = chart.x_ticks;
  if (x_ticks.empty()) {
    x_ticks =
        label_ticks(round_ticks(frame.x.low, frame.x.high, static_cast<int>(chart.width / 90)));
    // If a curve starts a little after a round number, the axis starts there.
    const double step = x_ticks[1].first - x_ticks[0].first;
    if (frame.x.low - x_ticks[0].first < 0.25 * step) frame.x.low = x_ticks[0].first;
  } else {
    const double half = 0.5 * (frame.x.high - frame.x.low) / static_cast<double>(x_ticks.size());
    frame.x = {frame.x.low - half, frame.x.high + half};
  }
}

std::string draw_chart(const LineChart& chart, bool for_page) {
  Frame frame{};
  Ticks x_ticks;
  Ticks y_ticks;
  compute_ranges(chart, frame, x_ticks, y_ticks);
  double label_width = 0.0;
  for (const auto& tick : y_ticks) label_width = std::max(label_width, text_width(tick.second));
  const double beside = room_beside(x_ticks);
  frame.left = std::max((chart.y_label.empty() ? 16.0 : 42.0) + label_width, beside);
  frame.right = chart.width - std::max(min_right_margin, beside);
  const double head = chart.title.empty() ? 12.0 : 42.0;
  double legend_height = 0.0;
  const std::string legend = draw_legend(chart, frame.left, head, legend_height);
  if (for_page) legend_height = legend_row;  // plots side by side start at the same height
  frame.top = head + legend_height + 12.0;
  frame.bottom = frame.top + chart.height;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\"{2} width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-size=\"12\" fill=\"#333\" font-family=\"system-ui, 'Segoe UI', 'Noto Sans', "
      "'DejaVu Sans', sans-serif\">\n",
      format_coordinate(chart.width),
      format_coordinate(frame.bottom + (chart.x_label.empty() ? 30.0 : 54.0)),
      for_page
          ? fmt::format(" class=\"chart\" role=\"img\" data-x=\"{}\"", escape_xml(chart.x_label))
          : "");
  if (!for_page) svg += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  if (!chart.title.empty()) svg += draw_title(chart, frame);
  svg += legend + draw_axes(chart, frame, x_ticks, y_ticks);
  if (for_page) {
    svg += straight_line(frame.left, frame.top, frame.left, frame.bottom, "class=\"cursor\"");
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    svg += draw_series(chart, i, frame, for_page);
  return svg + "</svg>\n";
}

}  // namespace

std::string line_chart_svg(const LineChart& chart) {
  return draw_chart(chart, false);
}

std::string line_chart_html(const LineChart& chart) {
  return draw_chart(chart, true);
}

}  // namespace regard
