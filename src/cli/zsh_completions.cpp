#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/completions.h"
#include "config/settings.h"

namespace regard {
namespace {

// In single quotes, with a backslash before each of `special`.
std::string in_quotes(std::string_view text, std::string_view special) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '\\' || special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result + "'";
}

std::string action(const OptionOutline& option) {
  switch (option.kind) {
    case ValueKind::choice:
      return fmt::format("({})", fmt::join(option.choices, " "));
    case ValueKind::file:
      return "_files";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::setting:
      return "_regard_settings";
    default:
      return " ";
  }
}

// ":what is wanted:how it is completed"
std::string value_spec(const OptionOutline& option) {
  if (option.kind == ValueKind::none) return "";
  const auto what = option.kind == ValueKind::choice ? "value" : option.value;
  return fmt::format(":{}:{}", what, action(option));
}

std::string option_spec(const OptionOutline& option) {
  const auto help = in_quotes("[" + brief(option.help) + "]", ":");
  const auto value = "'" + value_spec(option) + "'";
  const auto names = fmt::format("{}", fmt::join(option.names, ","));
  const auto tail = option.kind == ValueKind::none ? help : help + value;
  if (option.repeated) {
    return option.names.size() == 1 ? fmt::format("'*'{}{}", names, tail)
                                    : fmt::format("'*'{{{}}}{}", names, tail);
  }
  if (option.names.size() == 1) return names + tail;
  return fmt::format("'({})'{{{}}}{}", fmt::join(option.names, " "), names, tail);
}

std::string argument_spec(const OptionOutline& argument, std::size_t place) {
  const auto where = argument.repeated ? std::string("*") : std::to_string(place);
  return fmt::format("'{}{}'", where, value_spec(argument));
}

std::string function_name(const CommandOutline& command) {
  auto name = "_" + command.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string arguments_call(const CommandOutline& command, const std::string& flags) {
  std::string text = "  _arguments " + flags;
  for (const auto& option : command.options) text += " \\\n    " + option_spec(option);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    text += " \\\n    " + argument_spec(command.arguments[i], i + 1);
  }
  return text;
}

std::string function_of(const CommandOutline& command) {
  const auto name = function_name(command);
  if (command.commands.empty()) {
    return fmt::format("{}() {{\n{}\n}}\n\n", name, arguments_call(command, "-s"));
  }
  std::string list;
  for (const auto& next : command.commands) {
    list += "\n    " + in_quotes(next.last_word() + ":" + brief(next.help), "");
  }
  return fmt::format(
      "{0}() {{\n  local curcontext=$curcontext state line\n  local -a commands=({1})\n{2} \\\n    "
      "'1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n    command) _describe command commands ;;\n"
      "    argument) (( $+functions[{0}_$line[1]] )) && {0}_$line[1] ;;\n  esac\n}}\n\n",
      name, list, arguments_call(command, "-C"));
}

std::string settings_function() {
  std::string keys;
  std::string values;
  for (const auto& setting : all_settings()) {
    keys += "\n    " + in_quotes(setting.key + ":" + brief(setting.help), "");
    if (setting.values.empty()) continue;
    values += fmt::format("      {}) compadd {} ;;\n", setting.key, fmt::join(setting.values, " "));
  }
  return fmt::format(
      "_regard_settings() {{\n  local -a keys=({})\n  if [[ $PREFIX == *=* ]]; then\n"
      "    local key=${{PREFIX%%=*}}\n    compset -P '*='\n    case $key in\n{}      *) _files ;;\n"
      "    esac\n  else\n    _describe setting keys -S '='\n  fi\n}}\n\n",
      keys, values);
}

}  // namespace

std::string zsh_completions(const CommandOutline& program) {
  std::string text =
      "#compdef regard\n# zsh completion of regard, as `regard completions zsh` writes it\n\n";
  text += settings_function();
  for (const auto* command : all_commands(program)) text += function_of(*command);
  return text +
         "if [[ $funcstack[1] == _regard ]]; then\n  _regard \"$@\"\nelse\n  compdef _regard "
         "regard\nfi\n";
}

}  // namespace regard
