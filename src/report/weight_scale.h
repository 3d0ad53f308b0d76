// The scale on which attention weights are drawn: which weight is white, and how a picture, a page
// and a terminal say so.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

enum class WeightScale {
  absolute,  // 0 to 1, so that pictures can be compared
  picture,   // 0 to the largest weight of the matrix
  row        // 0 to the largest weight of each target word
};
constexpr std::array<std::string_view, 3> enum_names(WeightScale) {
  return {"absolute", "picture", "row"};
}

// Returns the largest finite weight, 0 if there is none.
float largest_weight(const std::vector<float>& weights);

// Returns the white weight of each row of a matrix with `columns` columns. A row (a matrix) without
// a positive weight has 1.
std::vector<float> white_weights(const std::vector<float>& weights, std::size_t columns,
                                 WeightScale scale);

// Returns what stands at the bright end of a scale: "1 (largest here: 0.0412)", "0.0412 (the
// largest)" or "the row's largest".
std::string bright_label(WeightScale scale, float largest);

// Returns the weights for page_script: three digits of base 36 each, in units of 1/46655; "---" for
// NaN. Weights outside [0, 1] become the nearer end.
std::string encode_weights(const std::vector<float>& weights);

// Returns the choice between the scales, for html_page's `beside`. page_script shows it on pages
// with matrices and draws these anew.
std::string scale_switch(WeightScale scale);

}  // namespace regard
