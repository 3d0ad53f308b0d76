// Errors that end the program with a message for the user and a documented exit code.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace regard {

// The process exit codes, as documented in docs/commands.md.
enum class ExitCode : int {
  ok = 0,
  unexpected = 1,   // a bug in regard
  usage = 2,        // command line or configuration
  input = 3,        // input data; the message carries file:line
  diverged = 4,     // the training loss is no longer finite
  checkpoint = 5,   // unreadable, or does not match the configuration
  environment = 6,  // disk full, no permission, no such device, run folder locked
  // A signal stopped training, which saved a checkpoint first. The code is 128 + the signal number.
  hung_up = 129,      // SIGHUP
  interrupted = 130,  // SIGINT
  terminated = 143,   // SIGTERM
};

// Base of all errors that regard detects. Message format: `file:line: found X, expected Y; do Z`.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// An error with a fixed exit code and a formatted message: throw InputError("{}:{}: …", path,
// line).
template <ExitCode Code>
class ErrorWithCode : public Error {
 public:
  template <typename... Args>
  explicit ErrorWithCode(fmt::format_string<Args...> format, Args&&... args)
      : Error(Code, fmt::format(format, std::forward<Args>(args)...)) {}
};

using ConfigError = ErrorWithCode<ExitCode::usage>;
using InputError = ErrorWithCode<ExitCode::input>;
using DivergedError = ErrorWithCode<ExitCode::diverged>;
using CheckpointError = ErrorWithCode<ExitCode::checkpoint>;
using EnvironmentError = ErrorWithCode<ExitCode::environment>;

// A checkpoint that was damaged after it was written. An older checkpoint may be intact.
class DamagedError : public CheckpointError {
  using CheckpointError::CheckpointError;
};

// A checkpoint that a training removed or replaced while it was read.
class RemovedError : public CheckpointError {
  using CheckpointError::CheckpointError;
};

}  // namespace regard
