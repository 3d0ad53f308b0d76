#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/format.h"

namespace regard {
namespace {

std::string tick_label(double value, double step) {
  if (std::abs(value) >= 1e9 || (value != 0.0 && step < 1e-5)) return fmt::format("{:.3g}", value);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  if (decimals == 0) return format_thousands(std::llround(value));
  return fmt::format("{:.{}f}", std::abs(value) < step / 2.0 ? 0.0 : value, decimals);
}

}  // namespace

AxisRange AxisRange::none() {
  return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
}

void AxisRange::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

AxisRange AxisRange::opened() const {
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

}  // namespace regard
