// The command line as data, read from the parser, and the texts generated from it: examples, shell
// completions and manual pages.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace regard {

struct UsageExample {
  std::string command;
  std::string description;
};

// Returns the examples of a command. `command_path` is the words after "regard", such as "train" or
// "config print"; "" is the program itself.
std::vector<UsageExample> examples_of(std::string_view command_path);

// Returns the text at the end of the help: "Examples:" and each command with its description.
std::string examples_text(const std::vector<UsageExample>& examples);

// The kind of an option's value, for completion by a shell.
enum class ValueKind { none, other, choice, file, folder, setting };

// An option, a flag or a positional argument.
struct OptionOutline {
  std::vector<std::string> names;  // "-c", "--config"; empty for a positional argument
  std::string value;               // as in the help: "FILE", "full|exact|never"; empty for a flag
  std::string range;               // of a number: "1 - 1000", or empty
  std::string help;
  std::string group;  // heading in the help
  ValueKind kind = ValueKind::none;
  std::vector<std::string> choices;  // for ValueKind::choice
  bool required = false;
  bool repeated = false;  // may have several values
};

struct CommandOutline {
  std::string name;  // "regard config print"
  std::string help;
  std::vector<OptionOutline> options;
  std::vector<OptionOutline> arguments;  // positional arguments
  std::vector<CommandOutline> commands;  // subcommands
  std::vector<UsageExample> examples;

  // Returns the words after "regard": "config print". Empty for the program itself.
  std::string command_path() const;
  std::string last_word() const;  // of the name: "print"
};

// Returns the outline of a program with all its commands.
CommandOutline outline(const CLI::App& program);

// Returns the completion script for "bash", "zsh" or "fish".
std::string completion_script(const std::string& shell);

// Returns the candidates for the last of the words after "regard": a line for each, "WORD" or
// "WORD\tDESCRIPTION", where a WORD that ends with "=" takes no space; or ":files" or ":folders",
// or
// ":files=" or ":folders=" if they follow the first "=" of the last word. They need not begin like
// the last word, which may be empty. In bash, "=" is a word of its own.
std::string completion_candidates(const CommandOutline& program,
                                  const std::vector<std::string>& words);

// Returns the manual page, in troff, of the program itself or of one of its commands. The page of a
// command includes its subcommands.
std::string manual_page(const CommandOutline& program, const CommandOutline& command);

// Returns the file names and the texts of all pages: regard.1, regard-train.1, …
std::vector<std::pair<std::string, std::string>> manual_pages(const CommandOutline& program);

}  // namespace regard
