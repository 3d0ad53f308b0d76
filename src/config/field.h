// Tools for describe(options, field) functions. These list the fields of an option struct once, for
// the YAML reader, the overrides, the checks, the writer, the JSON Schema and the documentation.
//
//   struct BatchOptions {
//     std::int64_t size = 80;
//   };
//   template <typename Field>
//   void describe(BatchOptions& o, Field&& field) {
//     field("size", o.size, "sentences or tokens in a batch", at_least(1));
//   }
//
// field() receives the key, the value, the help text and, for numbers, the allowed range. A field
// is a bool, std::int64_t, double, std::string, an enum with enum_names(), a std::vector of
// std::string (texts), an option struct with its own describe() (a section), or a std::vector of
// option structs (a list).
#pragma once

#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace regard {

// A closed interval of allowed values.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

constexpr Range at_least(double min) {
  return {min, std::numeric_limits<double>::infinity()};
}
constexpr Range between(double min, double max) {
  return {min, max};
}
// The largest allowed count, such as tokens in a batch. More than anyone needs, and small enough
// that its product with another size does not overflow 64 bits.
constexpr double max_count = 1 << 30;

// Stands for any `field` argument of describe(), to test if describe() exists.
struct AnyField {
  template <typename... Args>
  void operator()(Args&&...) const {}
};
// An option struct with describe().
template <typename T>
concept Section = requires(T& options) {
  describe(options, AnyField{});
};
// An enum whose values have names in YAML: enum_names(T) returns them in the order of the values.
template <typename T>
concept Choice = std::is_enum_v<T> && requires(T value) {
  enum_names(value).size();
};
// Returns the YAML name of a value: "gru".
template <Choice T>
std::string_view enum_name(T value) {
  return enum_names(value).at(static_cast<std::size_t>(value));
}
// A list of texts, which is a single value: [a, b].
template <typename T>
concept Texts = std::same_as<T, std::vector<std::string>>;
// A std::vector of option structs.
template <typename T>
concept List = std::same_as<T, std::vector<typename T::value_type>> && !Texts<T>;

// Returns the full key of a field: "section.name", or "name" at the top level.
inline std::string join_key(const std::string& section, std::string_view name) {
  return section.empty() ? std::string(name) : section + "." + std::string(name);
}

// Calls action(value, range) for the field `name`. Returns false if there is no such field.
template <Section T, typename Action>
bool visit_field(T& options, std::string_view name, Action&& action) {
  bool found = false;
  describe(options, [&](std::string_view key, auto& value, std::string_view, Range range = {}) {
    if (key != name) return;
    found = true;
    action(value, range);
  });
  return found;
}

// Returns the names of a section's fields in order.
template <Section T>
std::vector<std::string> field_names(T& options) {
  std::vector<std::string> names;
  describe(options, [&](std::string_view key, auto&&...) { names.emplace_back(key); });
  return names;
}

}  // namespace regard
