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

#include <limits>

namespace regard {

// The closed interval a number must lie in.
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

}  // namespace regard
