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
// A field is a bool, std::int64_t, double, std::string, an enum with enum_names(), an option struct
// with its own describe(), or a std::vector of these.
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
// The limit of counts, such as tokens of a batch. Larger than any use, and small enough that
// products with small factors do not overflow.
constexpr double max_count = 1 << 30;

constexpr Range between(double min, double max) {
  return {min, max};
}

// Concepts for the types of fields.
struct AnyField {
  template <typename... Args>
  void operator()(Args&&...) const {}
};
template <typename T>
concept Section = requires(T& options) {
  describe(options, AnyField{});
};
template <typename T>
concept Choice = std::is_enum_v<T> && requires(T value) {
  enum_names(value).size();
};
// Returns the name of a value: "gru".
template <Choice T>
std::string_view enum_name(T value) {
  return enum_names(value).at(static_cast<std::size_t>(value));
}
template <typename T>
concept List = std::same_as<T, std::vector<typename T::value_type>>;

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
