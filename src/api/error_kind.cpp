#include "regard/error_kind.h"

#include <filesystem>

#include "base/error.h"
#include "base/process.h"

namespace regard {

ErrorKind error_kind(const std::exception& error) {
  if (const auto* expected = dynamic_cast<const Error*>(&error)) {
    switch (expected->code()) {
      case ExitCode::usage:
        return ErrorKind::configuration;
      case ExitCode::input:
        return ErrorKind::input;
      case ExitCode::checkpoint:
        return ErrorKind::checkpoint;
      case ExitCode::environment:
        return ErrorKind::environment;
      default:
        return ErrorKind::unexpected;
    }
  }
  const bool is_file_error = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  return is_file_error || is_out_of_memory(error) ? ErrorKind::environment : ErrorKind::unexpected;
}

}  // namespace regard
