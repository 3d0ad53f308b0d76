// The commands that `regard` runs itself, because they do not need LibTorch.
#pragma once

#include <optional>

#include "base/error.h"
#include "cli/command_line.h"

namespace regard {

// Runs the command and returns its exit code. Returns nullopt, and does nothing, if the command
// needs LibTorch. Throws the errors of the command.
std::optional<ExitCode> run_without_torch(const CommandLine& command_line);

// Runs `regard config init`. Throws ConfigError, InputError or EnvironmentError.
ExitCode init_config(const ConfigInitArguments& arguments);

// Runs `regard pipeline`. Throws ConfigError, InputError, CheckpointError or EnvironmentError.
ExitCode run_pipeline(const PipelineArguments& arguments);

}  // namespace regard
