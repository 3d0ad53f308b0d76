#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completions.h"
#include "config/settings.h"

namespace regard {
namespace {

constexpr const char* opening =
    R"(# bash completion of regard, as `regard completions bash` writes it

_regard_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_regard_files() {
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
  compopt -o filenames 2>/dev/null
}

_regard() {
  local word command="" current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # bash takes the = of --option=value and key=value for a word of its own.
  if [[ $current == "=" ]]; then
    current=
  elif [[ $previous == "=" ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

// The call that completes such a value; nothing where nothing can be said of it.
std::string call_for(const OptionOutline& option) {
  switch (option.kind) {
    case ValueKind::choice:
      return fmt::format("_regard_words \"{}\"", fmt::join(option.choices, " "));
    case ValueKind::file:
      return "_regard_files -f";
    case ValueKind::folder:
      return "_regard_files -d";
    default:
      return "";
  }
}

// One case of `command previous`, after which a value is wanted.
std::string value_case(const CommandOutline& command, const OptionOutline& option) {
  if (option.kind == ValueKind::none || option.names.empty()) return "";
  std::vector<std::string> patterns;
  for (const auto& name : option.names) {
    patterns.push_back(fmt::format("\" {} {}\"", command.words(), name));
  }
  const auto call = call_for(option);
  return fmt::format("    {})\n      {}return ;;\n", fmt::join(patterns, " | "),
                     call.empty() ? "" : call + "; ");
}

std::string setting_cases(const CommandOutline& command) {
  std::string text;
  for (const auto& setting : all_settings()) {
    if (setting.values.empty()) continue;
    text += fmt::format("    \" {} {}\")\n      _regard_words \"{}\"; return ;;\n", command.words(),
                        setting.key, fmt::join(setting.values, " "));
  }
  return text;
}

std::string setting_words() {
  std::string text;
  for (const auto& setting : all_settings()) text += " " + setting.key + "=";
  return text.substr(1);
}

// What may stand at the next place: options after a dash, else commands, files or settings.
std::string next_case(const CommandOutline& command) {
  std::string options;
  for (const auto& option : command.options) {
    options += fmt::format("{}{}", options.empty() ? "" : " ", fmt::join(option.names, " "));
  }
  std::string rest;
  if (!command.commands.empty()) {
    std::vector<std::string> names;
    for (const auto& next : command.commands) names.push_back(next.last_word());
    rest = fmt::format("_regard_words \"{}\"", fmt::join(names, " "));
  } else if (takes_settings(command)) {
    rest = "_regard_words \"$settings\"; compopt -o nospace 2>/dev/null";
  } else if (!command.arguments.empty()) {
    rest = call_for(command.arguments.front());
  }
  const auto words = command.words();
  return fmt::format(
      "    \"{}{}\")\n      if [[ $current == -* ]]; then _regard_words \"{}\"; else {}; fi ;;\n",
      words.empty() ? "" : " ", words, options, rest.empty() ? ":" : rest);
}

}  // namespace

std::string bash_completions(const CommandOutline& program) {
  std::vector<std::string> commands;
  std::string values;
  std::string next;
  for (const auto* command : all_commands(program)) {
    if (command != &program) commands.push_back("\" " + command->words() + "\"");
    for (const auto& option : command->options) values += value_case(*command, option);
    if (takes_settings(*command)) values += setting_cases(*command);
    next += next_case(*command);
  }
  std::string text = opening;
  text += fmt::format("  local settings=\"{}\"\n", setting_words());
  text += "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$command $word\" in\n";
  text += fmt::format("      {}) command=\"$command $word\" ;;\n    esac\n  done\n",
                      fmt::join(commands, " | "));
  text += "  case \"$command $previous\" in\n" + values + "  esac\n";
  text += "  case \"$command\" in\n" + next + "  esac\n}\n\ncomplete -F _regard regard\n";
  return text;
}

}  // namespace regard
