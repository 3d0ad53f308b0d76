// Checks of the numbers on the command line. CLI11's conversions take more than they should: -5
// becomes 2⁶⁴ − 5 where no sign is expected, 010 is eight, a number beyond the type is its largest
// value, and nan is inside every range. To be given to Option::transform(): 010 becomes 10.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>

namespace regard {

constexpr auto largest_whole_number = std::numeric_limits<std::uint64_t>::max();

// Accepts decimal digits alone, from `least` to `most`.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = largest_whole_number);
// Accepts a finite number from `least` to `most`, either of which may be infinite.
CLI::Validator real_number(double least, double most = std::numeric_limits<double>::infinity());

}  // namespace regard
