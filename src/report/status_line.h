// The status line at the bottom of a terminal, which is redrawn in place. Shared by everything that
// shows progress. It is cleared before each log line.
#pragma once

#include <cstddef>
#include <string_view>

namespace regard {

// Capabilities of stderr or stdout.
struct Terminal {
  // False for a pipe, a file and TERM=dumb, which cannot redraw a line, and for stderr with
  // --quiet.
  bool live = false;
  // False without `live`, and if NO_COLOR is set and not empty (https://no-color.org).
  bool color = false;
  std::size_t columns = 80;  // 80 if unknown
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
// Replaces the line on stderr. `text` must be shorter than the terminal is wide.
void draw(std::string_view text);
// Clears the line, if there is one. It is also cleared before each log line.
void clear();

}  // namespace status_line
}  // namespace regard
