#include "cli/misuse.h"

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/log.h"
#include "base/suggest.h"

namespace regard {
namespace {

// The command that the words lead to, as far as they were understood.
const CLI::App& reached(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? program : reached(*commands.front());
}

std::string full_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* next : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(next->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The first word that found no place, with the nearest that has one.
std::string complaint(const CLI::App& program, const CLI::App& command,
                      const CLI::ParseError& misuse) {
  const auto commands = commands_of(command);
  const auto strays = program.remaining(/*recurse=*/true);
  if (strays.empty()) {
    if (commands.empty()) return misuse.what();
    return fmt::format("a command is wanted; there are {}", fmt::join(commands, ", "));
  }
  const auto& word = strays.front();
  const bool is_command = names_no_command(program);
  const auto near =
      nearest(word.substr(0, word.find('=')), is_command ? commands : options_of(command));
  return fmt::format("unknown {} `{}`{}{}", is_command ? "command" : "argument", word,
                     near ? fmt::format("; did you mean `{}`?", *near) : "",
                     is_command ? fmt::format("; there are {}", fmt::join(commands, ", ")) : "");
}

}  // namespace

bool names_no_command(const CLI::App& program) {
  const auto strays = program.remaining(/*recurse=*/true);
  return !strays.empty() && !strays.front().starts_with('-') &&
         !commands_of(reached(program)).empty();
}

ExitCode report_misuse(const CLI::App& program, const CLI::ParseError& misuse) {
  const auto& command = reached(program);
  log::error("{}\n`{} --help` says more", complaint(program, command, misuse), full_name(command));
  return ExitCode::usage;
}

}  // namespace regard
