// Converts single values to and from YAML, and describes the allowed values in messages.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"

namespace regard {

// Returns YAML text that reads back as the same value: the shortest such text for a double, and
// double quotes around a string that YAML might read as another type.
std::string to_yaml(bool value);
std::string to_yaml(std::int64_t value);
std::string to_yaml(double value);
std::string to_yaml(const std::string& value);
std::string to_yaml(const std::vector<std::string>& texts);  // [a, "b c"]
template <Choice T>
std::string to_yaml(T value) {
  return std::string(enum_name(value));
}

// Parses a plain (unquoted) scalar. Returns false, and does not change `value`, if the text does
// not have the type. bool: true, false, yes, no, on, off in any case (YAML 1.1). std::int64_t:
// decimal digits with an optional sign, or a number with an integer value (1e3, 2.5e6). double: a
// finite decimal number.
bool from_yaml(std::string_view text, bool& value);
bool from_yaml(std::string_view text, std::int64_t& value);
bool from_yaml(std::string_view text, double& value);

template <Choice T>
bool from_yaml(std::string_view text, T& value) {
  const auto found = find_choice<T>(text);
  if (found) value = *found;
  return found.has_value();
}

// True if the value lies in the range.
bool is_in_range(double value, Range range);
// Returns " between 0 and 1", ", at least 1", or "".
std::string range_text(Range range);

// Describes the allowed values: "a number between 0 and 1", "one of bpe, word".
template <typename T>
std::string expected_text(Range range) {
  if constexpr (Section<T>) {
    return "a section (keys, each with its value)";
  } else if constexpr (List<T>) {
    return "a list (each entry begins with `- `)";
  } else if constexpr (Texts<T>) {
    return "a list of texts";
  } else if constexpr (Choice<T>) {
    return fmt::format("one of {}", fmt::join(choice_names<T>(), ", "));
  } else if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (std::same_as<T, std::int64_t>) {
    return "a whole number" + range_text(range);
  } else if constexpr (std::same_as<T, double>) {
    return "a number" + range_text(range);
  } else {
    static_assert(std::same_as<T, std::string>);
    return "a text";
  }
}

}  // namespace regard
