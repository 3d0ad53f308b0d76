// Draws an alignment as lines between two columns of words, source left and target right: soft
// lines with the attention weight as opacity, solid lines for the links.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace regard {

struct AlignmentLines {
  std::vector<std::string> source;
  std::vector<std::string> target;
  std::vector<std::vector<float>> weights;                 // [target][source]; may be empty
  std::vector<std::pair<std::size_t, std::size_t>> links;  // (source word, target word), from 0
};

// Returns an <svg> element for a page (report/page.h). Throws std::invalid_argument if the weights
// do not match the words or a link is to a word that does not exist.
std::string alignment_lines(const AlignmentLines& lines);

}  // namespace regard
