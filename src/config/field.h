// The fields of option structs. An option struct lists its fields once, for the YAML reader, the
// overrides, the checks, the writer, the JSON Schema and the documentation:
//
//   struct BatchOptions {
//     std::int64_t size = 80;
//
//     static constexpr auto fields = std::tuple{
//         field("size", &BatchOptions::size, "sentences or tokens in a batch", at_least(1))};
//   };
//
// field() receives the key, the member, the help text, for numbers the allowed range, and the
// readers of the key (config/parts.h) if not every configuration reads it. A field is a bool,
// std::int64_t, double, std::string, an enum with enum_names() (base/choice.h), a std::vector of
// std::string (texts), an option struct (a section), or a std::vector of option structs (a list).
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/choice.h"
#include "config/parts.h"

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

// A key of an option struct. `get` returns the value of a struct: a pointer to a member, or a
// Nested.
template <typename Get>
struct Field {
  std::string_view name;
  Get get;
  std::string_view help;
  Range range;
  Readers readers;

  constexpr void set(const Range& new_range) { range = new_range; }
  constexpr void set(const Readers& new_readers) { readers = new_readers; }
};

// `more` is a Range, Readers, or both.
template <typename Get, typename... More>
constexpr Field<Get> field(std::string_view name, Get get, std::string_view help, More... more) {
  Field<Get> result{name, get, help, {}, {}};
  (result.set(more), ...);
  return result;
}

// A member of a member, for keys that several sections have without a section of their own.
template <typename Outer, typename Inner>
struct Nested {
  Outer outer;
  Inner inner;

  constexpr auto& operator()(auto& section) const { return section.*outer.*inner; }
};
template <typename Outer, typename Inner>
Nested(Outer, Inner) -> Nested<Outer, Inner>;  // clang 14 deduces none for an aggregate

// An option struct.
template <typename T>
concept Section = requires {
  std::remove_const_t<T>::fields;
};
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

// Calls visit(field, value, …) for each field of a section, in order, with the value of the field
// in each of the sections, which have one type.
template <typename Visit, Section T, Section... Others>
void for_each_field(Visit&& visit, T& section, Others&... others) {
  const auto visit_one = [&](const auto& field) {
    visit(field, std::invoke(field.get, section), std::invoke(field.get, others)...);
  };
  std::apply([&](const auto&... field) { (visit_one(field), ...); },
             std::remove_const_t<T>::fields);
}

// Calls action(value, range) for the field `name`. Returns false if there is no such field.
template <Section T, typename Action>
bool visit_field(T& section, std::string_view name, Action&& action) {
  bool found = false;
  for_each_field(
      [&](const auto& field, auto& value) {
        if (field.name != name) return;
        found = true;
        action(value, field.range);
      },
      section);
  return found;
}

// Returns the names of a section's fields in order.
template <Section T>
std::vector<std::string> field_names() {
  return std::apply([](const auto&... field) { return std::vector{std::string(field.name)...}; },
                    T::fields);
}

}  // namespace regard
