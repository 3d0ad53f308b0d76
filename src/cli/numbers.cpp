#include "cli/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

namespace regard {
namespace {

template <typename Value>
bool read(const std::string& text, Value& value) {
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end && std::isfinite(static_cast<double>(value));
}

// `type` is the name of a limited range in help and manual pages (cli/outline.cpp).
template <typename Value>
CLI::Validator number(const std::string& kind, const std::string& type, Value min, Value max,
                      bool unlimited) {
  const auto range =
      unlimited ? fmt::format("at least {}", min) : fmt::format("from {} to {}", min, max);
  const auto description = unlimited ? "" : fmt::format("{} in [{} - {}]", type, min, max);
  const auto check = [=](std::string& text) -> std::string {
    Value value{};
    if (!read(text, value) || value < min || value > max) {
      return fmt::format("found `{}`, expected {} {}", text, kind, range);
    }
    text = fmt::format("{}", value);  // remove leading zeros, which CLI11 reads as octal
    return {};
  };
  return CLI::Validator(check, description);
}

}  // namespace

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
  return number("a whole number", "INT", min, max,
                max >= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

CLI::Validator real_number(double min, double max) {
  return number("a number", "FLOAT", min, max, std::isinf(max));
}

}  // namespace regard
