// The status line at the bottom of a terminal, which is redrawn in place. Shared by everything that
// shows progress. It is cleared before each log line.
#pragma once

#include <cstddef>
#include <string_view>

namespace regard {

// Capabilities of stderr or stdout. `live` is false for a pipe, a file and TERM=dumb, which cannot
// redraw a line. `color` is false if NO_COLOR is set and not empty (https://no-color.org).
struct Terminal {
  bool live = false;
  bool color = false;
  std::size_t columns = 80;
};

// Query the system at each call, because the window can be resized.
Terminal stderr_terminal();
Terminal stdout_terminal();

// Escape sequences that start and end a style; empty without colour.
enum class Style { plain, strong, faint, accent };
std::string_view style_on(Style style, const Terminal& terminal);
std::string_view style_off(Style style, const Terminal& terminal);

namespace status_line {

// True if a tenth of a second has passed since the last draw.
bool due();
// Replaces the line on stderr. `text` must fit into the terminal's columns.
void draw(std::string_view text);
// Clears the line, if there is one. It is also cleared before each log line.
void clear();

}  // namespace status_line
}  // namespace regard
