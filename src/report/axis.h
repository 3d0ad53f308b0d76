// The values along a chart's axis: their range, and round numbers to mark it with.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace regard {

struct AxisRange {
  double low;
  double high;

  static AxisRange none();  // that no value has been included in
  void include(double value);
  // Never empty, never (almost) a single value.
  AxisRange opened() const;
};

using Ticks = std::vector<std::pair<double, std::string>>;  // value, what is written there

// About `count` round numbers (1, 2 or 5 times a power of ten apart) that cover [low, high].
std::vector<double> round_ticks(double low, double high, int count);
// With as many decimals as they are apart.
Ticks label_ticks(const std::vector<double>& ticks);

}  // namespace regard
