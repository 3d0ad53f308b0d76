// The scales for drawing attention weights: the weight that is white, and its label.
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

// Returns the weight that is white in each row of a matrix with `columns` columns; 1 if no weight
// is positive.
std::vector<float> white_weights(const std::vector<float>& weights, std::size_t columns,
                                 WeightScale scale);

// Returns the label at the bright end of a scale: "1 (largest here: 0.0412)", "0.0412 (the
// largest)" or "the row's largest".
std::string bright_label(WeightScale scale, float largest);

// Returns the weights for page_script: three digits of base 36 each, in units of 1/46655; "---" for
// NaN. Clamps weights to [0, 1].
std::string encode_weights(const std::vector<float>& weights);

// Returns a <select> of the scales, for html_page's `header`. page_script shows it on pages with
// matrices and redraws these.
std::string scale_switch(WeightScale scale);

}  // namespace regard
