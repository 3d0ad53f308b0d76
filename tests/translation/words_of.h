// The words of a line between spaces, as translation/mark_placement.h takes them.
#pragma once

#include <string_view>
#include <vector>

#include "text/unicode.h"
#include "translation/mark_placement.h"

namespace regard {

inline std::vector<TextRange> words_of(std::string_view text) {
  std::vector<TextRange> ranges;
  for (const auto word : split_at_ascii_space(text)) {
    const auto begin = static_cast<std::size_t>(word.data() - text.data());
    ranges.push_back({begin, begin + word.size()});
  }
  return ranges;
}

}  // namespace regard
