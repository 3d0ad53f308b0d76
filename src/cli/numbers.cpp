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

// `type` is the name that help and manual pages have for a limited range (cli/outline.cpp).
template <typename Value>
CLI::Validator number(const std::string& kind, const std::string& type, Value least, Value most,
                      bool unlimited) {
  const auto range =
      unlimited ? fmt::format("at least {}", least) : fmt::format("from {} to {}", least, most);
  const auto description = unlimited ? "" : fmt::format("{} in [{} - {}]", type, least, most);
  const auto check = [=](std::string& text) -> std::string {
    Value value{};
    if (!read(text, value) || value < least || value > most) {
      return fmt::format("found `{}`, wanted {} {}", text, kind, range);
    }
    text = fmt::format("{}", value);  // without leading zeros, which CLI11 reads as octal
    return {};
  };
  return CLI::Validator(check, description);
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return number("a whole number", "INT", least, most,
                most >= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

CLI::Validator real_number(double least, double most) {
  return number("a number", "FLOAT", least, most, std::isinf(most));
}

}  // namespace regard
