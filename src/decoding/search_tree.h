// What a beam search has gone through: every hypothesis that was in the beam at some step, as a
// tree in which they share their beginnings. The roots are the first tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace regard {

struct SearchTree {
  struct Node {
    std::int64_t token;
    std::int64_t previous;        // in nodes, before this one; -1 at a root
    double log_probability;       // of all tokens up to here
    std::size_t group;            // of the beam (decoding/beam_groups.h)
    std::optional<double> score;  // where the hypothesis ends in </s>
  };
  std::vector<Node> nodes;

  // Puts another group's nodes behind.
  void append(const SearchTree& other) {
    const auto offset = static_cast<std::int64_t>(nodes.size());
    for (auto node : other.nodes) {
      if (node.previous >= 0) node.previous += offset;
      nodes.push_back(node);
    }
  }
};

}  // namespace regard
