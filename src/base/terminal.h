// Tells what a terminal can show, and fits text to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace regard {

// Capabilities of a stream to people. Those of a pipe or a file are the ones of a new Terminal.
struct Terminal {
  // False for a pipe, a file and TERM=dumb, which cannot redraw a line.
  bool live = false;
  // False without `live`, and if NO_COLOR is set and not empty (https://no-color.org).
  bool color = false;
  std::size_t columns = 80;  // 80 if unknown
};

// Queries the system at each call, because the window can be resized.
Terminal terminal_at(int descriptor);

// Returns the text for people who read this stream: on a terminal, wrapped to its width.
std::string text_for(int descriptor, std::string text);

// Returns text whose lines have at most `columns` characters, broken at blanks. The rest of a line
// starts below its description, in the lines of a help text ("  --beam-size N    hypotheses …"), or
// below its first word. Words longer than that stay whole.
std::string wrap_lines(std::string_view text, std::size_t columns);

}  // namespace regard
