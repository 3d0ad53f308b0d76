// The commands that `regard` runs itself, because they do not need LibTorch.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/command_line.h"

namespace regard {

// Runs the command and returns its exit code. Returns nullopt, and does nothing, if the command
// needs LibTorch. Throws the errors of the command.
std::optional<ExitCode> run_without_torch(const CommandLine& command_line);

// Runs `regard config init`. Throws ConfigError, InputError or EnvironmentError.
void init_config(const ConfigInitArguments& arguments);

// Writes to standard output. Throws EnvironmentError if that fails.
void print(std::string_view text);
// Writes to a file, or to standard output if `path` is empty or "-". Throws EnvironmentError.
void print_to(const std::string& path, std::string_view text);
// Throws ConfigError if the output file exists already, because it may have been edited by hand, or
// if its name is reserved in the folder of a run or model. Accepts standard output ("" or "-").
void check_new_file(const std::string& path);

}  // namespace regard
