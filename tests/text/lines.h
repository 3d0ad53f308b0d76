// Training text for tokenizers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace regard {

inline LineSource lines_of(std::vector<std::string> lines) {
  return [lines = std::move(lines), next = std::size_t{0}](std::string& line) mutable {
    const bool found = next < lines.size();
    if (found) line = lines[next++];
    return found;
  };
}

// Returns lines of words that are composed of a few syllables, so that there are pairs to merge.
inline std::vector<std::string> syllables(int count) {
  const std::vector<std::string> parts = {"ba", "do", "ki", "lé", "mu", "ran", "sto", "ti"};
  Random random(5);
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    std::string line;
    for (int word = 0; word < 6; ++word) {
      if (word > 0) line += ' ';
      for (int k = 0; k < 3; ++k) line += parts[random.below(parts.size())];
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace regard
