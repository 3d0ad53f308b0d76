// Draws attention as in Fig. 3 of Bahdanau et al. (2015): source words across the top, target words
// down the left, each cell gray by its weight α_ts, from black (0) to white (1, or as `scale`
// says). Below each matrix is a legend with the grays and the largest weight. Self-contained: loads
// no scripts or fonts.
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
  // The position chosen for each target word by hard attention or a pointer, marked by a dot; -1
  // for none. Empty for other attention.
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

// Returns one sentence as an SVG file on white. The tooltip of a cell has target, source and
// weight. Clamps weights to the scale; draws NaN in red. Throws std::invalid_argument if a matrix
// does not have T * S weights, or has chosen positions but not T.
std::string alignment_svg(const AttentionPicture& picture);

// Returns the words and one matrix, without its caption, as an <svg> element for a page.
std::string alignment_matrix(const AttentionPicture& picture, std::size_t matrix);

// Returns an HTML page with many sentences, light or dark like the reader's system. The cell under
// the pointer shows its weight and highlights its two words. The header has a switch between the
// scales. Without scripts, cells have tooltips and the scale is that of the first picture.
std::string alignment_html(const std::string& title, const std::vector<AttentionPicture>& pictures);

}  // namespace regard
