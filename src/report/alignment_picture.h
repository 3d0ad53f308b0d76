// Draws attention as in Fig. 3 of Bahdanau et al. (2015): source words across the top, target words
// down the left, the names of both in the corner, each cell gray by its weight α_ts, from black (0)
// to white (see WeightScale). Below each matrix is a legend with the grays and the largest weight.
// If the source is an image, a copy of it for each target word has the weights laid over it instead
// (image_attention.h). Pictures and pages load no other files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/image.h"

namespace regard {

// The weight that is white in a picture.
enum class WeightScale {
  absolute,  // 0 to 1, so that pictures can be compared
  picture,   // 0 to the largest weight of each matrix
  row        // 0 to the largest weight of each target word
};
constexpr std::array<std::string_view, 3> enum_names(WeightScale) {
  return {"absolute", "picture", "row"};
}

// Returns the largest finite weight; 0 if no weight is positive.
float largest_weight(const std::vector<float>& weights);

// Returns one weight per row of a matrix with `columns` columns: the weight that is drawn in white
// in this row. It is 1 if the scale has no positive weight.
std::vector<float> white_weights(const std::vector<float>& weights, std::size_t columns,
                                 WeightScale scale);

// Returns the label at the bright end of a scale: "1 (largest here: 0.0412)", "0.0412 (the
// largest)" or "the row's largest".
std::string bright_label(WeightScale scale, float largest);

// Draws "0", the grays from black to white, and the label of white (bright_label()), from the
// coordinates of the upper left corner. `legend_width()` and `legend_height` are its size.
std::string draw_legend(double left, double top, const std::string& label);
double legend_width(const std::string& label);
inline constexpr double legend_height = 24.0;

// Returns the weights as page_script reads them: three digits of base 36 each, from "000" for 0 to
// "zzz" (46655) for 1; "---" for NaN. Clamps weights to [0, 1].
std::string encode_weights(const std::vector<float>& weights);

// Returns a <select> of the scales for the `header` of html_page(). It is hidden until page_script
// finds a matrix on the page. A selection redraws all matrices.
std::string scale_switch(WeightScale scale);

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
  // The time from one source position to the next. Above 0, the source is sound: its columns are
  // narrow, and have a time axis in place of the words of `source`.
  double column_seconds = 0;
  // The source if it is an image. The S positions are the cells of a grid of this many rows, row by
  // row from the top.
  std::optional<Image> image = {};
  std::size_t grid_rows = 0;
  // Lines below the caption: the sentence and its translation.
  std::vector<std::string> text = {};
  // The names of the columns and of the rows; may be empty.
  std::string source_axis = "source";
  std::string target_axis = "translation";
};

// Returns the label of white in a matrix of the picture.
std::string legend_label(const AttentionPicture& picture, const AttentionMatrix& matrix);

// Opens an <svg> of the given size. `attributes` has further attributes.
std::string open_svg(double width, double height, const std::string& attributes);

// Returns the text of an SVG file of one sentence, with a white background. The tooltip of a cell
// has its target word, source word and weight. Clamps weights to the scale; draws NaN in red.
// Throws std::invalid_argument if a matrix does not have T * S weights, or has chosen positions but
// not T.
std::string alignment_svg(const AttentionPicture& picture);

// Returns the words and picture.matrices[index], without its caption, as an <svg> element for a
// page. Throws the errors of alignment_svg().
std::string alignment_matrix(const AttentionPicture& picture, std::size_t index);

}  // namespace regard
