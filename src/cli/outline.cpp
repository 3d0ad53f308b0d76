#include "cli/outline.h"

#include <CLI/CLI.hpp>

#include "base/strings.h"

namespace regard {
namespace {

// Returns the kind of an option from the name of its value in the help.
ValueKind kind_of(const std::string& value) {
  if (value.empty()) return ValueKind::none;
  if (value.find('|') != std::string::npos) return ValueKind::choice;
  if (value == "KEY=VALUE") return ValueKind::setting;
  if (value == "FILE") return ValueKind::file;
  if (value == "MODEL" || value == "FOLDER") return ValueKind::folder;
  return ValueKind::other;
}

OptionOutline outline_of(const CLI::Option& option) {
  OptionOutline result;
  for (const auto& name : option.get_snames()) result.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) result.names.push_back("--" + name);
  result.help = option.get_description();
  result.group = option.get_group();
  result.required = option.get_required();
  result.repeated = option.get_expected_max() > 1;
  if (option.get_items_expected_max() == 0) return result;  // a flag
  // The parser appends the text of its validators: "N:INT in [1 - 1000]".
  const auto type = option.get_type_name();
  result.value = type.substr(0, type.find(':'));
  const auto open = type.find('[');
  if (open != std::string::npos) {
    result.range = type.substr(open + 1, type.find(']', open) - open - 1);
  }
  result.kind = kind_of(result.value);
  if (result.kind == ValueKind::choice) {
    const auto choices = split(result.value, '|');
    result.choices.assign(choices.begin(), choices.end());
  }
  return result;
}

CommandOutline outline_of(const CLI::App& command, const std::string& above) {
  CommandOutline result;
  result.name = above.empty() ? command.get_name() : above + " " + command.get_name();
  result.help = command.get_description();
  for (const auto* option : command.get_options()) {
    auto& list = option->nonpositional() ? result.options : result.arguments;
    list.push_back(outline_of(*option));
  }
  for (const auto* next : command.get_subcommands([](const CLI::App*) { return true; })) {
    result.commands.push_back(outline_of(*next, result.name));
  }
  result.examples = examples_of(result.command_path());
  return result;
}

}  // namespace

std::string CommandOutline::command_path() const {
  const auto blank = name.find(' ');
  return blank == std::string::npos ? "" : name.substr(blank + 1);
}

std::string CommandOutline::last_word() const {
  return name.substr(name.rfind(' ') + 1);
}

CommandOutline outline(const CLI::App& program) {
  return outline_of(program, "");
}

}  // namespace regard
