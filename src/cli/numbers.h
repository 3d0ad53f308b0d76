// Strict validators for numbers on the command line. CLI11's own conversions accept too much: -5
// becomes 2⁶⁴ − 5 for an unsigned type, 010 is octal, a number beyond the type is clamped, and nan
// is inside every range. Pass these to Option::transform(), which also turns 010 into 10.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>

namespace regard {

constexpr auto max_whole_number = std::numeric_limits<std::uint64_t>::max();

// Accepts only decimal digits, from `min` to `max`.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max = max_whole_number);
// Accepts a finite number from `min` to `max`. Either limit may be infinite.
CLI::Validator real_number(double min, double max = std::numeric_limits<double>::infinity());

}  // namespace regard
