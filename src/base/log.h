// The program's log. It goes to stderr (stdout is for translations), and to a run's train.log while
// that file is open. Thread-safe, except that open_file() and set_quiet() must not be called while
// another thread writes.
#pragma once

#include <fmt/format.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace regard::log {

enum class Level { info, warning, error };

// Writes one line to stderr and to the open log file and flushes both. Control characters except
// tabs and line feeds are escaped, as \x1B.
void write(Level level, std::string_view message);
// Drops messages below this level (default: info).
void set_level(Level level);
// Also appends every later message, with its time, to `path`. Throws EnvironmentError if the file
// cannot be opened.
void open_file(const std::string& path);
// Sets a function to call before each line on stderr, so that a progress bar can clear its own
// line; nullptr unsets it. stderr_mutex() is locked during the call.
void set_before_line(void (*hook)());

// Locked while write() writes. Code that redraws a part of the terminal locks it too.
std::mutex& stderr_mutex();

// --quiet: limits stderr to warnings and errors. The log file still receives everything.
void set_quiet();
bool is_quiet();

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
