#include "commands/misuse.h"

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

std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) words.push_back("--" + name);
  }
  for (const auto* next : command.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(next->get_name());
  }
  return words;
}

// "; did you mean `train`?" for the first word that found no place, or nothing.
std::string suggestion(const CLI::App& program, const CLI::App& command) {
  for (const auto& word : program.remaining(/*recurse=*/true)) {
    const auto near = nearest(word.substr(0, word.find('=')), words_of(command));
    if (near) return fmt::format("; did you mean `{}`?", *near);
  }
  return "";
}

}  // namespace

ExitCode report_misuse(const CLI::App& program, const CLI::ParseError& misuse) {
  const auto& command = reached(program);
  log::error("{}{}\n`{} --help` says more", misuse.what(), suggestion(program, command),
             full_name(command));
  return ExitCode::usage;
}

}  // namespace regard
