// The tree of a beam search: each step a column, each hypothesis a path from left to right, the
// more probable above. A branch that the beam gave up is faint, the best hypothesis bold; where one
// has ended stands its score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regard {

struct SearchTreePicture {
  struct Node {
    std::string token;
    std::int64_t previous;        // in nodes, before this one; -1 at a root
    double log_probability;       // of all tokens up to here
    std::optional<double> score;  // where the hypothesis has ended
  };
  std::vector<Node> nodes;
};

// An <svg> element for a page (report/page.h). Throws std::invalid_argument for a node before its
// previous one.
std::string search_tree_svg(const SearchTreePicture& picture);

}  // namespace regard
