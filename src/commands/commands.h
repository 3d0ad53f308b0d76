// The verbs of the command line. Each adds its options to the program and, when it is chosen, runs
// and leaves its exit code.
#pragma once

#include <CLI/CLI.hpp>

#include "base/error.h"

namespace regard {

void add_train(CLI::App& program, ExitCode& exit_code);
void add_translate(CLI::App& program, ExitCode& exit_code);
void add_evaluate(CLI::App& program, ExitCode& exit_code);
void add_info(CLI::App& program, ExitCode& exit_code);
void add_config(CLI::App& program, ExitCode& exit_code);

}  // namespace regard
