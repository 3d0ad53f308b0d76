// Enums whose values have names, in YAML and on the command line. enum_names(T) returns them in the
// order of the values:
//
//   enum class LayerKind { recurrent, transformer };
//   constexpr std::array<std::string_view, 2> enum_names(LayerKind) {
//     return {"recurrent", "transformer"};
//   }
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"

namespace regard {

template <typename T>
concept Choice = std::is_enum_v<T> && requires(T value) {
  enum_names(value).size();
};

// Returns the name of a value: "gru".
template <Choice T>
std::string_view enum_name(T value) {
  return enum_names(value).at(static_cast<std::size_t>(value));
}

// Returns the names of all values, in order.
template <Choice T>
std::vector<std::string> choice_names() {
  const auto names = enum_names(T{});
  return {names.begin(), names.end()};
}

// Returns the value with this name; nullopt if there is none.
template <Choice T>
std::optional<T> find_choice(std::string_view name) {
  const auto names = enum_names(T{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<T>(found - names.begin());
}

// Returns an error message for another name, with all names.
template <Choice T>
std::string unknown_choice(std::string_view name) {
  const auto names = choice_names<T>();
  return fmt::format("found `{}`, expected one of {}{}", name, fmt::join(names, ", "),
                     did_you_mean(name, names));
}

// Returns the value that an option names. Throws ConfigError for another name.
template <Choice T>
T choice_named(std::string_view option, std::string_view name) {
  if (const auto value = find_choice<T>(name)) return *value;
  throw ConfigError("{}: {}", option, unknown_choice<T>(name));
}

}  // namespace regard
