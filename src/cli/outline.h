// The command line as data: what completions and manual pages are made of, read off the parser
// itself so that they never differ from it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/examples.h"

namespace regard {

// What follows an option, as far as a shell could complete it.
enum class ValueKind { none, other, choice, file, folder, setting };

struct OptionOutline {
  std::vector<std::string> names;  // "-c", "--config"; none for an argument by its place
  std::string value;               // "FILE", "full|exact|never"
  std::string range;               // "1 - 1000" or nothing
  std::string help;
  std::string group;
  ValueKind kind = ValueKind::none;
  std::vector<std::string> choices;  // of kind choice
  bool required = false;
  bool repeated = false;
};

struct CommandOutline {
  std::string name;  // "regard config print"
  std::string help;
  std::vector<OptionOutline> options;
  std::vector<OptionOutline> arguments;  // by their place
  std::vector<CommandOutline> commands;
  std::vector<Example> examples;

  // The words after "regard": "config print".
  std::string words() const;
  std::string last_word() const;
};

CommandOutline outline(const CLI::App& program);

// The command itself, then all below it.
std::vector<const CommandOutline*> all_commands(const CommandOutline& command);

}  // namespace regard
