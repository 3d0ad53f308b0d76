#include "config/scalar.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/strings.h"

namespace regard {
namespace {

// True if every YAML parser reads the unquoted text as a string.
bool is_plain_string(std::string_view text) {
  static constexpr std::array words = {"true", "false", "yes", "no",   "on",
                                       "off",  "y",     "n",   "null", ""};
  const std::string folded = lower_ascii(text);
  if (std::find(words.begin(), words.end(), folded) != words.end()) return false;
  const bool starts_plain = is_letter_byte(text[0]) || text[0] == '_' || text[0] == '/' ||
                            text.starts_with("./") || text.starts_with("../");
  return starts_plain && std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_byte(c) || is_digit_byte(c) ||
                  std::string_view("_./@+-").find(c) != std::string_view::npos;
         });
}

}  // namespace

std::string to_yaml(bool value) {
  return value ? "true" : "false";
}
std::string to_yaml(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string to_yaml(double value) {
  return fmt::format("{}", value);
}
std::string to_yaml(const std::string& value) {
  // A JSON string is also a double-quoted YAML string.
  return is_plain_string(value) ? value : to_text(Json(value));
}

std::string to_yaml(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ", ") + to_yaml(text);
  return "[" + list + "]";
}

bool from_yaml(std::string_view text, bool& value) {
  const std::string folded = lower_ascii(text);
  const bool yes = folded == "true" || folded == "yes" || folded == "on";
  const bool no = folded == "false" || folded == "no" || folded == "off";
  if (yes || no) value = yes;
  return yes || no;
}

bool from_yaml(std::string_view text, std::int64_t& value) {
  if (const auto whole = parse_number<std::int64_t>(text)) {
    value = *whole;
    return true;
  }
  constexpr double max_exact = 9007199254740992.0;  // 2^53: the limit of exact integers in a double
  double number = 0;
  if (!from_yaml(text, number) || std::trunc(number) != number || std::abs(number) > max_exact) {
    return false;
  }
  value = static_cast<std::int64_t>(number);
  return true;
}

bool from_yaml(std::string_view text, double& value) {
  const auto number = parse_number<double>(text);
  if (!number || !std::isfinite(*number)) return false;
  value = *number;
  return true;
}

bool is_in_range(double value, Range range) {
  return value >= range.min && value <= range.max;
}

std::string range_text(Range range) {
  if (std::isfinite(range.min) && std::isfinite(range.max)) {
    return fmt::format(" between {} and {}", range.min, range.max);
  }
  if (std::isfinite(range.min)) return fmt::format(", at least {}", range.min);
  if (std::isfinite(range.max)) return fmt::format(", at most {}", range.max);
  return "";
}

}  // namespace regard
