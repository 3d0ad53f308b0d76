// What a command line that cannot be understood gets.
#pragma once

#include <CLI/CLI.hpp>

#include "base/error.h"

namespace regard {

// Whether a word stands where a command belongs and is none: what --help behind it asks about is
// not there.
bool names_no_command(const CLI::App& program);

// Logs what is wrong, the nearest word that would have been right, and where to read more.
ExitCode report_misuse(const CLI::App& program, const CLI::ParseError& misuse);

}  // namespace regard
