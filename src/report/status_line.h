// The one line at the bottom of a terminal that rewrites itself, shared by everything that shows
// progress. It steps aside whenever the log writes a line.
#pragma once

#include <cstddef>
#include <string_view>

namespace regard {

// What stderr or stdout can do. `live` is false for a pipe, a file and TERM=dumb: no line rewrites
// itself there. `color` is false where NO_COLOR is set to anything (https://no-color.org).
struct Terminal {
  bool live = false;
  bool color = false;
  std::size_t columns = 80;
};

// Ask the system anew at each call, so that a resized window is noticed.
Terminal stderr_terminal();
Terminal stdout_terminal();

// One visible run of characters after another, each in a style; nothing where there is no colour.
enum class Style { plain, strong, faint, accent };
std::string_view style_on(Style style, const Terminal& terminal);
std::string_view style_off(Style style, const Terminal& terminal);

namespace status_line {

// Whether a tenth of a second has passed since the last draw: what comes sooner is not worth
// computing.
bool due();
// Replaces the line on stderr. `text` must fit into the terminal's columns.
void draw(std::string_view text);
// Takes the line away, if there is one. Called before each log line.
void clear();

}  // namespace status_line
}  // namespace regard
