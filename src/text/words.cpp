#include "text/words.h"

#include <algorithm>

namespace regard {

std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view ascii_space = " \t\n\v\f\r";
  std::vector<std::string_view> parts;
  for (std::size_t begin = text.find_first_not_of(ascii_space); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(ascii_space, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(ascii_space, end);
  }
  return parts;
}

}  // namespace regard
