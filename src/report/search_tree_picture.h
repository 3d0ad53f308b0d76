// Draws the tree of a beam search: each step is a column, each hypothesis a path from left to
// right, the more probable above. Pruned branches are faint and the best hypothesis is bold. A
// finished hypothesis shows its score.
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
    std::int64_t previous;        // index of the parent, which precedes the node; -1 for a root
    double log_probability;       // sum over the tokens from the root to this node
    std::optional<double> score;  // if the hypothesis is finished
  };
  std::vector<Node> nodes;
};

// Returns an <svg> element for a page (report/page.h). Throws std::invalid_argument for a node
// before its parent.
std::string search_tree_svg(const SearchTreePicture& picture);

}  // namespace regard
