#include "report/weight_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/format.h"

namespace regard {
namespace {

constexpr float code_of_one = 46655.0F;  // zzz in base 36
constexpr std::array<std::string_view, 3> scale_titles{
    "weights from 0 to 1", "from 0 to the map's largest", "from 0 to each row's largest"};

}  // namespace

float largest_weight(const std::vector<float>& weights) {
  float largest = 0.0F;
  for (const float weight : weights) {
    if (std::isfinite(weight)) largest = std::max(largest, weight);
  }
  return largest;
}

std::vector<float> white_weights(const std::vector<float>& weights, std::size_t columns,
                                 WeightScale scale) {
  const std::size_t rows = columns == 0 ? 0 : weights.size() / columns;
  if (scale == WeightScale::absolute) return std::vector<float>(rows, 1.0F);
  const auto positive = [](float largest) { return largest > 0.0F ? largest : 1.0F; };
  if (scale == WeightScale::picture) {
    return std::vector<float>(rows, positive(largest_weight(weights)));
  }
  std::vector<float> whites;
  for (std::size_t t = 0; t < rows; ++t) {
    const auto* row = weights.data() + t * columns;
    whites.push_back(positive(largest_weight({row, row + columns})));
  }
  return whites;
}

std::string bright_label(WeightScale scale, float largest) {
  if (scale == WeightScale::row) return "the row's largest";
  const auto value = format_short(static_cast<double>(largest));
  if (scale == WeightScale::absolute) return fmt::format("1 (largest here: {})", value);
  return largest > 0.0F ? value + " (the largest)" : "1 (no weight is above 0)";
}

std::string encode_weights(const std::vector<float>& weights) {
  static constexpr const char* digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string codes;
  for (const float weight : weights) {
    if (std::isnan(weight)) {
      codes += "---";
      continue;
    }
    const auto code = std::lround(code_of_one * std::clamp(weight, 0.0F, 1.0F));
    codes += {digits[code / 1296], digits[code / 36 % 36], digits[code % 36]};
  }
  return codes;
}

std::string scale_switch(WeightScale scale) {
  std::string choices;
  for (std::size_t i = 0; i < scale_titles.size(); ++i) {
    choices +=
        fmt::format("<option value=\"{}\"{}>{}</option>", enum_names(scale)[i],
                    i == static_cast<std::size_t>(scale) ? " selected=\"\"" : "", scale_titles[i]);
  }
  return fmt::format("<label class=\"scale\" hidden=\"\">brightness <select>{}</select></label>\n",
                     choices);
}

}  // namespace regard
