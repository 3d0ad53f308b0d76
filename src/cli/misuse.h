// The answer to a command line that cannot be understood, or that means something else than it
// says.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace regard {

// True if a word stands in the place of a command and is none: then a --help after it has no page.
bool names_no_command(const CLI::App& program);

// Finds what the parser would take for something else: `-src FILE` (with one dash) is -s with the
// value "rc". Returns the complaint. `words` are those after "regard"; to be called before parsing.
std::optional<std::string> misread_option(const CLI::App& program,
                                          const std::vector<std::string>& words);

// Finds files among the models, which are folders: `-m MODEL in.en` is meant as `-m MODEL -i
// in.en`. Returns the complaint. To be called after parsing, whether that succeeded or not.
std::optional<std::string> misplaced_file(const CLI::App& program);

// Describes the error with the command or option that was probably meant.
std::string complaint(const CLI::App& program, const CLI::ParseError& misuse,
                      const std::vector<std::string>& words);

// Logs the complaint and where to read more.
ExitCode report_misuse(const CLI::App& program, const std::string& complaint,
                       const std::vector<std::string>& words);

}  // namespace regard
