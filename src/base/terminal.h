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
  // False if the locale has another encoding: LC_ALL=C, LANG=fr_FR.ISO-8859-1. Programs that run
  // without any locale, as in a container, have terminals that show UTF-8.
  bool utf8 = true;
};

// Queries the system at each call, because the window can be resized.
Terminal terminal_at(int descriptor);

// Returns text in which the characters that regard draws with or punctuates by (─ █ ▁ – × …) are
// ASCII. Those of tables and pictures become one character each, and the ellipsis what is given.
std::string to_ascii(std::string_view text, std::string_view ellipsis = "...");
// The text itself, or in ASCII if the locale needs it.
std::string in_locale(std::string text);
// The text for people who read this stream: in_locale() and, on a terminal, wrapped to its width.
std::string text_for(int descriptor, std::string text);

// Returns text whose lines have at most `columns` characters, broken at blanks. The rest of a line
// starts below its description, in the lines of a help text ("  --beam-size N    hypotheses …"), or
// below its first word. Words longer than that stay whole.
std::string wrap_lines(std::string_view text, std::size_t columns);

}  // namespace regard
