#include "report/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
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

}  // namespace

Terminal stderr_terminal() {
  auto terminal = terminal_at(STDERR_FILENO);
  if (log::is_quiet()) terminal.live = terminal.color = false;
  return terminal;
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
