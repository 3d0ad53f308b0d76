// The status line at the bottom of a terminal, which is redrawn in place. Shared by everything that
// shows progress. It is cleared before each log line.
#pragma once

#include <string_view>

#include "base/terminal.h"

namespace regard {

// The terminal of stderr; not live with --quiet.
Terminal stderr_terminal();

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
