// What a describe(options, field) function is written with: the one list from which the YAML
// reader, the overrides, the checks, the resolved copy, the JSON Schema and the documentation come.
//
//   struct BatchOptions {
//     std::int64_t size = 80;
//   };
//   template <typename Field>
//   void describe(BatchOptions& o, Field&& field) {
//     field("size", o.size, "sentences or tokens in a batch", at_least(1));
//   }
//
// A value is a bool, std::int64_t, double, std::string, an enum with enum_names(), an option
// struct with a describe() of its own, or a std::vector of these.
#pragma once

#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace regard {

// The closed interval a number must lie in.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

constexpr Range at_least(double min) {
  return {min, std::numeric_limits<double>::infinity()};
}
// The most that is counted in one number (tokens of a batch, words of a vocabulary): beyond any
// use, and so small that products of it with small factors do not overflow.
constexpr double largest_count = 1 << 30;

constexpr Range between(double min, double max) {
  return {min, max};
}

// The kinds of values, for the readers and writers that take each its own way.
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
template <typename T>
concept List = std::same_as<T, std::vector<typename T::value_type>>;

// The full key of a field: its section's key, a dot, its name. The top has no key.
inline std::string join_key(const std::string& section, std::string_view name) {
  return section.empty() ? std::string(name) : section + "." + std::string(name);
}

// Calls action(value, range) for the field called `name`; false when there is none.
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

// The names of a section's fields, in their order.
template <Section T>
std::vector<std::string> field_names(T& options) {
  std::vector<std::string> names;
  describe(options, [&](std::string_view key, auto&&...) { names.emplace_back(key); });
  return names;
}

}  // namespace regard
