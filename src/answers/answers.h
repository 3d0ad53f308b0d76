// What `regard` answers itself, at once: the verbs that need no model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/command_line.h"

namespace regard {

// Runs the verb where it is one of these, and turns an error into its exit code; nothing where the
// verb needs LibTorch.
std::optional<ExitCode> answer(const CommandLine& given);

// Each writes what it was asked for, or throws an error.
void init_config(const ConfigInitArguments& arguments);
void convert_config(const ConfigConvertArguments& arguments);
void print_manual(const CommandOutline& program, const ManArguments& arguments);

// To standard output; EnvironmentError where it cannot be written.
void print(std::string_view text);
// To a file, or to standard output where `path` is empty or "-".
void print_to(const std::string& path, std::string_view text);
// ConfigError where there is such a file already: a configuration may have been written by hand.
void refuse_existing(const std::string& path);

}  // namespace regard
