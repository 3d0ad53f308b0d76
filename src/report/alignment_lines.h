// An alignment as lines between two columns of words, source left and target right: thin ones as
// strong as the attention between two words, thick ones for the links made of it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace regard {

struct AlignmentLines {
  std::vector<std::string> source;
  std::vector<std::string> target;
  std::vector<std::vector<float>> weights;                 // [target][source]; or none
  std::vector<std::pair<std::size_t, std::size_t>> links;  // source word, target word, from 0
};

// An <svg> element for a page (report/page.h). Throws std::invalid_argument for weights of other
// numbers of words, and for links to words that are not there.
std::string alignment_lines(const AlignmentLines& lines);

}  // namespace regard
