// Writes shell scripts that complete the command line: commands, options, option values from a
// fixed set, files, and the keys and values of key=value overrides.
#pragma once

#include <string>

#include "cli/outline.h"

namespace regard {

// Returns the script for "bash", "zsh" or "fish". Throws ConfigError for another shell.
std::string completions(const CommandOutline& program, const std::string& shell);

}  // namespace regard
