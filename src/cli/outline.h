// The command line as data, read from the parser, for completions and manual pages.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/examples.h"

namespace regard {

// The kind of an option's value, for completion by a shell.
enum class ValueKind { none, other, choice, file, folder, setting };

struct OptionOutline {
  std::vector<std::string> names;  // "-c", "--config"; empty for a positional argument
  std::string value;               // "FILE", "full|exact|never"
  std::string range;               // "1 - 1000", or empty
  std::string help;
  std::string group;
  ValueKind kind = ValueKind::none;
  std::vector<std::string> choices;  // for ValueKind::choice
  bool required = false;
  bool repeated = false;
};

struct CommandOutline {
  std::string name;  // "regard config print"
  std::string help;
  std::vector<OptionOutline> options;
  std::vector<OptionOutline> arguments;  // positional arguments
  std::vector<CommandOutline> commands;
  std::vector<Example> examples;

  // Returns the words after "regard": "config print".
  std::string command_path() const;
  std::string last_word() const;
};

CommandOutline outline(const CLI::App& program);

// Returns the command and all its subcommands, recursively.
std::vector<const CommandOutline*> all_commands(const CommandOutline& command);

}  // namespace regard
