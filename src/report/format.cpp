#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "text/unicode.h"

namespace regard {
namespace {

// "1.0e-3"
std::string with_exponent(double value, int decimals) {
  const std::string text = fmt::format("{:.{}e}", value, decimals);
  const auto exponent = text.find('e');
  return fmt::format("{}e{}", text.substr(0, exponent), std::stoi(text.substr(exponent + 1)));
}

}  // namespace

std::string format_thousands(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string format_short(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double size = std::abs(value);
  if (size >= 999'999.5) return format_rate(value);
  if (size >= 99.95) return format_thousands(std::llround(value));
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995 || size < 0.00005) return fmt::format("{:.2f}", value);
  return size >= 0.09995 ? fmt::format("{:.3f}", value) : fmt::format("{:.4f}", value);
}

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return format_short(value);
  return std::abs(value) < 1e7 ? fmt::format("{:.{}f}", value, decimals) : with_exponent(value, 2);
}

std::string format_rate(double value) {
  if (!std::isfinite(value)) return format_short(value);
  return value == 0.0 ? "0" : with_exponent(value, 1);
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0.0) || std::isinf(seconds)) return "?";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  const std::int64_t hours = whole / 3600;
  if (hours >= 48) return fmt::format("{} d {} h", hours / 24, hours % 24);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000.0;
  const bool decimal = unit > 0 && value < 9.95;
  return fmt::format("{:.{}f} {}", value, decimal ? 1 : 0, units[unit]);
}

std::string format_percent(double fraction) {
  // 1e-9 keeps rounding errors from turning 0.29 into 28 %.
  return fmt::format("{} %",
                     static_cast<int>(std::floor(100.0 * std::clamp(fraction, 0.0, 1.0) + 1e-9)));
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::size_t display_width(std::string_view utf8) {
  std::size_t columns = 0;
  for (const Glyph& glyph : split_glyphs(utf8)) columns += glyph.columns;
  return columns;
}

std::string truncate_to_width(std::string_view utf8, std::size_t columns) {
  if (display_width(utf8) <= columns) return std::string(utf8);
  if (columns == 0) return "";
  std::string cut;
  std::size_t taken = 0;
  for (const Glyph& glyph : split_glyphs(utf8)) {
    taken += glyph.columns;
    if (taken > columns - 1) break;
    cut += glyph.text;
  }
  return cut + "…";
}

Bar format_bar(double fraction, std::size_t columns) {
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto halves = static_cast<std::size_t>(clamped * 2.0 * static_cast<double>(columns));
  const std::size_t full = halves / 2;
  const bool half = halves % 2 == 1;
  return {repeat("━", full) + (half ? "╸" : ""), repeat("─", columns - full - (half ? 1 : 0))};
}

}  // namespace regard
