// The commands that `regard` runs itself, because they do not need LibTorch.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/command_line.h"

namespace regard {

// Runs the command and returns its exit code. Returns nullopt if the command needs LibTorch. Throws
// the errors of the command.
std::optional<ExitCode> answer(const CommandLine& given);

// Runs `regard config init`.
void init_config(const ConfigInitArguments& arguments);

// Writes to standard output. Throws EnvironmentError if that fails.
void print(std::string_view text);
// Writes to a file, or to standard output if `path` is empty or "-".
void print_to(const std::string& path, std::string_view text);
// Throws ConfigError if the file exists already, because it may have been edited by hand, or if the
// path is reserved for a file of a run or a model.
void check_new_file(const std::string& path);

}  // namespace regard
