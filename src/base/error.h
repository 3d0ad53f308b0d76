// Errors that end in a sentence for the user and a documented exit code, never in a stack trace.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace regard {

// The process exit codes, as documented in README.md.
enum class ExitCode : int {
  ok = 0,
  unexpected = 1,   // a bug of ours, or an exception nobody foresaw
  usage = 2,        // command line or configuration
  input = 3,        // input data; the message carries file:line
  diverged = 4,     // the training loss is no longer finite
  checkpoint = 5,   // unreadable, or not fit for this configuration
  environment = 6,  // disk full, no permission, no such device, run folder locked
  hung_up = 129,    // training stopped by a signal, after saving: SIGHUP, SIGINT, SIGTERM
  interrupted = 130,
  terminated = 143,
};

// The base of all foreseen errors. The message says what, where, found against wanted, what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// One class for each exit code, formatted in place: throw InputError("{}:{}: …", path, line).
template <ExitCode Code>
class ErrorOf : public Error {
 public:
  template <typename... Args>
  explicit ErrorOf(fmt::format_string<Args...> format, Args&&... args)
      : Error(Code, fmt::format(format, std::forward<Args>(args)...)) {}
};

using ConfigError = ErrorOf<ExitCode::usage>;
using InputError = ErrorOf<ExitCode::input>;
using DivergedError = ErrorOf<ExitCode::diverged>;
using CheckpointError = ErrorOf<ExitCode::checkpoint>;
using EnvironmentError = ErrorOf<ExitCode::environment>;

// A checkpoint that is no longer what was written: an older one may do.
class DamagedError : public CheckpointError {
  using CheckpointError::CheckpointError;
};

}  // namespace regard
