#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/strings.h"

namespace regard {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// Returns the column in which the rest of a long line begins.
std::size_t continuation_column(std::string_view line, std::size_t columns) {
  const auto first = std::min(line.find_first_not_of(' '), line.size());
  const auto gap = line.find("  ", first);
  if (gap == std::string_view::npos) return first;
  const auto description = line.find_first_not_of(' ', gap);
  if (description == std::string_view::npos) return first;
  const auto column = count_characters(line.substr(0, description));
  return column <= 2 * columns / 3 ? column : first;
}

}  // namespace

Terminal terminal_at(int descriptor) {
  Terminal terminal;
  const auto term = variable("TERM");
  terminal.live = ::isatty(descriptor) == 1 && !term.empty() && term != "dumb";
  terminal.color = terminal.live && variable("NO_COLOR").empty();
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
  }
  return terminal;
}

std::string text_for(int descriptor, std::string text) {
  const auto terminal = terminal_at(descriptor);
  return terminal.live ? wrap_lines(text, terminal.columns) : text;
}

std::string wrap_lines(std::string_view text, std::size_t columns) {
  std::string wrapped;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    wrapped += wrap(line, columns, std::string(continuation_column(line, columns), ' '));
    if (end < text.size()) wrapped += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped;
}

}  // namespace regard
