// Pictures of attention, as in Fig. 3 of Bahdanau et al. (2015): source words across the top,
// target words down the left, each cell gray by its weight α_ts, from black (0) to white (1, or as
// `scale` says). A bar of the grays with its numbers and the largest weight stands below each
// matrix. Self-contained: no script or font is loaded from anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/weight_scale.h"

namespace regard {

// One matrix of weights, e.g. one head or one kind of attention.
struct AttentionMatrix {
  std::string caption;         // may be empty
  std::vector<float> weights;  // [T, S], row-major: weights[t * S + s]
  // Where one position was chosen for each target word, by hard attention or a pointer: which. A
  // dot marks it. -1 is none.
  std::vector<std::int64_t> chosen = {};
};

// One sentence with its matrices, drawn side by side.
struct AttentionPicture {
  std::string caption;              // may be empty
  std::vector<std::string> source;  // S words or pieces
  std::vector<std::string> target;  // T words or pieces
  std::vector<AttentionMatrix> matrices;
  WeightScale scale = WeightScale::absolute;
};

// One sentence as an SVG file on white. Each cell tells target, source and weight as a tooltip.
// Weights outside the scale are drawn as the nearer end, NaN in red. Throws std::invalid_argument
// if a matrix has not T * S weights, or chosen positions but not T.
std::string alignment_svg(const AttentionPicture& picture);

// The words and one matrix, without its caption, as the <svg> element of a page.
std::string alignment_matrix(const AttentionPicture& picture, std::size_t matrix);

// Many sentences as one HTML page, light or dark as the reader's system is. The cell under the
// pointer tells its weight and lights up its two words, and the header has a switch between the
// scales; without scripts the tooltips and the scale of the first picture remain.
std::string alignment_html(const std::string& title, const std::vector<AttentionPicture>& pictures);

}  // namespace regard
