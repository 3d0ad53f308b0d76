// Draws attention weights as `regard translate --picture` does.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace regard {

// Returns an SVG file with the source across the top and the target down the left, each cell gray
// by its weight. weights[t * source.size() + s] is the weight of source token s for target token t,
// as in Model::Hypothesis::attention. `scale` is the weight that is white: "absolute" (1),
// "picture" (the largest weight), or "row" (the largest weight of each target token). `text` has
// lines to show below the caption, such as the sentence; `axes` the names of columns and rows,
// which may be empty. All are UTF-8. Throws if the number of weights does not match, or for another
// scale (error_kind.h).
__attribute__((visibility("default"))) std::string attention_svg(
    const std::vector<std::string>& source, const std::vector<std::string>& target,
    const std::vector<float>& weights, const std::string& caption = "",
    const std::string& scale = "absolute", const std::vector<std::string>& text = {},
    const std::array<std::string, 2>& axes = {"source", "translation"});

}  // namespace regard
