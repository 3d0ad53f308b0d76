// Draws attention in a terminal: one row per target word, one column per source word, brighter
// cells for larger weights. Source words are written vertically above, and each row ends with the
// source word of the largest weight:
//
//             T w .
//             h a
//             e t
//             y c
//               h
//        Ils  ██·     They  0.90
//  regardent    ▒▒▒▒  .     0.58
//           0 ·░▒▓█ 1 (largest here: 0.900)
//
// Shows a weight by the background colour or, without colours, by the shades · ░ ▒ ▓ █. The last
// line is the scale (AttentionPicture::scale).
#pragma once

#include <string>

#include "base/terminal.h"
#include "report/alignment_picture.h"

namespace regard {

// Draws the first matrix of the picture. Splits the source into blocks that fit the terminal's
// width. NaN is drawn as ??. Each line ends in a newline without blanks before it. Returns "" if
// the matrix is empty. Throws std::invalid_argument if there is no matrix, or it does not have T *
// S weights.
std::string heat_map(const AttentionPicture& picture, const Terminal& terminal);

}  // namespace regard
