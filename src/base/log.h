// The program's log: to stderr (never stdout, which belongs to translations), and to a run's
// train.log while one is open.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace regard::log {

enum class Level { debug, info, warning, error };

// One line, at once, to stderr and to the open log file; control characters but tabs and line feeds
// are written out, as \x1B.
void write(Level level, std::string_view message);
// What is below this level is dropped (info by default).
void set_level(Level level);
// Appends everything logged from now on to `path` too, until close_file(). Throws EnvironmentError.
void open_file(const std::string& path);
void close_file();
// Called before a line goes to stderr, so that a progress bar can clear its own; null to unset.
void set_before_line(void (*hook)());

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace regard::log
