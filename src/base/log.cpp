#include "base/log.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/strings.h"
#include "base/terminal.h"

namespace regard::log {
namespace {

void (*before_line)() = nullptr;  // guarded by stderr_mutex()
bool quiet = false;

// Writes to stderr.
class StderrSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    auto text = text_for(STDERR_FILENO, {message.payload.data(), message.payload.size()});
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  void flush_() override { std::fflush(stderr); }
};

// The logger's first sink is stderr; the second, if any, is the log file.
spdlog::logger& logger() {
  static const auto instance = [] {
    return std::make_shared<spdlog::logger>("regard", std::make_shared<StderrSink>());
  }();
  return *instance;
}

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string_view level_prefix(Level level) {
  if (level == Level::warning) return "warning: ";
  if (level == Level::error) return "error: ";
  return "";
}

}  // namespace

void write(Level level, std::string_view message) {
  const std::lock_guard lock(stderr_mutex());
  if (!logger().should_log(spdlog_level(level))) return;
  if (before_line) before_line();
  logger().log(spdlog_level(level), "{}{}", level_prefix(level), escape_controls(message));
  logger().flush();
}

std::mutex& stderr_mutex() {
  static std::mutex mutex;
  return mutex;
}

void set_level(Level level) {
  logger().set_level(spdlog_level(level));
}

void open_file(const std::string& path) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(path);
    sink->set_pattern("%Y-%m-%d %H:%M:%S %v");
    logger().sinks().push_back(std::move(sink));
  } catch (const spdlog::spdlog_ex& error) {
    throw EnvironmentError("{}: cannot write the log ({})", path, error.what());
  }
}

void set_before_line(void (*hook)()) {
  const std::lock_guard lock(stderr_mutex());
  before_line = hook;
}

void set_quiet() {
  quiet = true;
  logger().sinks().front()->set_level(spdlog::level::warn);
}

bool is_quiet() {
  return quiet;
}

}  // namespace regard::log
