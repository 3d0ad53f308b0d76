#include "report/chart_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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

}  // namespace

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

Ticks label_ticks(const std::vector<double>& ticks) {
  Ticks labelled;
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

std::string straight_line(double x1, double y1, double x2, double y2,
                          const std::string& attributes) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", format_coordinate(x1),
                     format_coordinate(y1), format_coordinate(x2), format_coordinate(y2),
                     attributes);
}

std::string stroke(std::size_t index) {
  const SeriesStyle& style = styles[index % styles.size()];
  const std::string dash =
      *style.dash ? fmt::format(" stroke-dasharray=\"{}\"", style.dash) : std::string{};
  return fmt::format(
      "class=\"line c{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
      "stroke-linejoin=\"round\"{}",
      index % styles.size(), style.color, dash);
}

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

std::string band(std::size_t index, const std::string& path) {
  return fmt::format(
      "<path class=\"band c{0}\" d=\"{1}\" fill=\"{2}\" fill-opacity=\"0.18\" stroke=\"{2}\" "
      "stroke-opacity=\"0.35\"/>\n",
      index % styles.size(), path, styles[index % styles.size()].color);
}

}  // namespace regard
