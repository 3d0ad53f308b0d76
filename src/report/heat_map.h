// Attention in a terminal: a row for each target word, a column for each source word, each cell
// brighter by its weight. The source stands on end above, and behind each row the word that was
// looked at most:
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
// With colours a cell's background tells the weight, without them the shades · ░ ▒ ▓ █ do. The last
// line shows the scale (AttentionPicture::scale).
#pragma once

#include <string>

#include "report/alignment_picture.h"
#include "report/status_line.h"

namespace regard {

// Draws the picture's first matrix, in as many blocks of source words as the terminal's columns ask
// for. Every line ends in a newline and none in blanks. Throws std::invalid_argument if there is no
// matrix of T * S weights.
std::string heat_map(const AttentionPicture& picture, const Terminal& terminal);

}  // namespace regard
