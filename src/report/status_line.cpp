#include "report/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/log.h"

namespace regard {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto redraw_interval = std::chrono::milliseconds(100);

// State of the process's one terminal.
bool drawn = false;  // guarded by log::stderr_mutex()
Clock::time_point last_draw{};

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void erase() {
  if (!drawn) return;
  write_stderr("\r\x1b[K");
  drawn = false;
}

Terminal terminal_at(int descriptor) {
  Terminal terminal;
  const char* const term = std::getenv("TERM");
  const bool dumb = !term || std::string_view(term).empty() || std::string_view(term) == "dumb";
  const bool silenced = descriptor == STDERR_FILENO && log::is_quiet();
  terminal.live = isatty(descriptor) == 1 && !dumb && !silenced;
  const char* const no_color = std::getenv("NO_COLOR");
  terminal.color = terminal.live && (!no_color || *no_color == '\0');
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.columns = size.ws_col;
  return terminal;
}

}  // namespace

Terminal stderr_terminal() {
  return terminal_at(STDERR_FILENO);
}

Terminal stdout_terminal() {
  return terminal_at(STDOUT_FILENO);
}

std::string_view style_on(Style style, const Terminal& terminal) {
  if (!terminal.color) return "";
  switch (style) {
    case Style::plain:
      return "";
    case Style::strong:
      return "\x1b[1m";
    case Style::faint:
      return "\x1b[2m";
    case Style::accent:
      return "\x1b[36m";
  }
  return "";
}

std::string_view style_off(Style style, const Terminal& terminal) {
  return terminal.color && style != Style::plain ? "\x1b[0m" : "";
}

namespace status_line {

bool due() {
  return Clock::now() - last_draw >= redraw_interval;
}

void draw(std::string_view text) {
  log::set_before_line(&erase);
  const std::lock_guard lock(log::stderr_mutex());
  write_stderr(fmt::format("\r{}\x1b[K", text));
  drawn = true;
  last_draw = Clock::now();
}

void clear() {
  const std::lock_guard lock(log::stderr_mutex());
  erase();
}

}  // namespace status_line
}  // namespace regard
