// Draws attention to an image as in Fig. 3 of Xu et al. (2015): one copy of the image for each
// target word, darkened where the weights are small. A cell whose weight is white (WeightScale) has
// the colours of the image; a cell of weight 0 has a fifth of their brightness. A chosen cell has
// an orange frame.
//
// Images of more than 96 pixels in height or width are drawn smaller, each pixel the mean of a
// block. The functions need AttentionPicture::image; the sizes must have been checked.
#pragma once

#include <string>

#include "report/alignment_picture.h"

namespace regard {

// Returns the text of an SVG file with all matrices, one below the other.
std::string image_attention_svg(const AttentionPicture& picture);

// Returns an <svg> element for a page for each matrix.
std::string image_attention_elements(const AttentionPicture& picture);

}  // namespace regard
