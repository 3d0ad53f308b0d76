// What `regard` answers itself, at once: the verbs that need no model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/command_line.h"

namespace regard {

// Runs the verb if it is one of these; returns nothing if it needs LibTorch. Throws the verb's
// errors.
std::optional<ExitCode> answer(const CommandLine& given);

// Each writes what it was asked for, or throws an error.
void init_config(const ConfigInitArguments& arguments);
void convert_config(const ConfigConvertArguments& arguments);
void print_manual(const CommandOutline& program, const ManArguments& arguments);

// To standard output; EnvironmentError where it cannot be written.
void print(std::string_view text);
// To a file, or to standard output where `path` is empty or "-".
void print_to(const std::string& path, std::string_view text);
// Throws ConfigError if there is such a file already, which may have been written by hand, or if
// its name is that of a file of a run or a model.
void refuse_existing(const std::string& path);

}  // namespace regard
