// The command line as data, read from the parser, and the texts generated from it: examples, shell
// completions and manual pages.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regard {

struct Example {
  std::string command;
  std::string description;
};

// Returns the examples of a command. `command_path` is the words after "regard", such as "train" or
// "config print"; "" is the program itself.
std::vector<Example> examples_of(std::string_view command_path);

// Returns the text at the end of the help: "Examples:" and each command with its description.
std::string examples_text(const std::vector<Example>& examples);

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

// Returns the script for "bash", "zsh" or "fish". Throws ConfigError for another shell.
std::string completions(const CommandOutline& program, const std::string& shell);

// Returns the page of the program, or of a command with its subcommands.
std::string manual_page(const CommandOutline& program, const CommandOutline& command);

// Returns all pages with their file names: regard.1, regard-train.1, …
std::vector<std::pair<std::string, std::string>> manual_pages(const CommandOutline& program);

}  // namespace regard
