// What makes shells complete regard's command line: commands, options, the values of those that
// have few, files, and the keys and values of key=value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/outline.h"

namespace regard {

// The script for "bash", "zsh" or "fish"; ConfigError for another shell.
std::string completions(const CommandOutline& program, const std::string& shell);

std::vector<std::string> known_shells();

std::string bash_completions(const CommandOutline& program);
std::string zsh_completions(const CommandOutline& program);
std::string fish_completions(const CommandOutline& program);

// The beginning of a help text that says enough in a list.
std::string brief(std::string_view help);
// Whether key=value may follow the command.
bool takes_settings(const CommandOutline& command);

}  // namespace regard
