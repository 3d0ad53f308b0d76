// Explains errors of the command line and suggests corrections.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace regard {

// True if a word in the place of a command is not a command, as in `regard trian --help`. The
// parser then prints the help of the command before that word, instead of an error.
bool has_unknown_command(const CLI::App& program);

// Finds an option that the parser would misread: `-src FILE` (with one dash) is -s with the value
// "rc". Returns the error message. Must be called before parsing. `words` are the words after
// "regard".
std::optional<std::string> find_misread_option(const CLI::App& program,
                                               const std::vector<std::string>& words);

// Finds files among the values of -m, which must be folders: `-m MODEL in.en` probably means
// `-m MODEL -i in.en`. Returns the error message. Must be called after parsing, even if parsing
// failed.
std::optional<std::string> find_misplaced_file(const CLI::App& program);

// Returns the message for an error of the parser, with the command or option that was probably
// meant. `words` are the words after "regard".
std::string describe_error(const CLI::App& program, const CLI::ParseError& error,
                           const std::vector<std::string>& words);

// Logs the message and a reference to the --help of the command in `words`. Returns
// ExitCode::usage.
ExitCode report_usage_error(const CLI::App& program, const std::string& message,
                            const std::vector<std::string>& words);

}  // namespace regard
