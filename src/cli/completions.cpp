// The completion scripts of bash, zsh and fish.
#include "cli/outline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "config/docs.h"

namespace regard {
namespace {

constexpr std::size_t max_brief_length = 72;  // bytes

// Returns the first phrase of a help text, cut with an ellipsis if it is longer than 72 bytes.
std::string brief(std::string_view help) {
  for (const std::string_view delimiter : {"; ", ": ", " (", ", e.g."}) {
    help = help.substr(0, std::min(help.find(delimiter), help.size()));
  }
  if (help.size() <= max_brief_length) return std::string(help);
  return std::string(help.substr(0, help.rfind(' ', max_brief_length))) + " …";
}

// True if the command takes key=value arguments.
bool takes_settings(const CommandOutline& command) {
  return std::ranges::any_of(command.arguments, [](const OptionOutline& argument) {
    return argument.kind == ValueKind::setting;
  });
}

// The shell variable `command` becomes " config print" for `regard config print`.
constexpr const char* bash_header =
    R"(# bash completion of regard, written by `regard completions bash`

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
  # bash splits --option=value and key=value at the =, which becomes a word.
  if [[ $current == "=" ]]; then
    current=
  elif [[ $previous == "=" ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

// Returns the call of a bash function that completes a value, or "" if no completion is possible.
std::string bash_value_call(const OptionOutline& option) {
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

// Returns the branch of `case "$command $previous"` that completes the value of an option, or ""
// for a flag or a positional argument.
std::string bash_value_case(const CommandOutline& command, const OptionOutline& option) {
  if (option.kind == ValueKind::none || option.names.empty()) return "";
  std::vector<std::string> patterns;
  for (const auto& name : option.names) {
    patterns.push_back(fmt::format("\" {} {}\"", command.command_path(), name));
  }
  const auto call = bash_value_call(option);
  return fmt::format("    {})\n      {}return ;;\n", fmt::join(patterns, " | "),
                     call.empty() ? "" : call + "; ");
}

// Returns the branches of `case "$command $previous"` that complete the values of key=value.
std::string bash_setting_cases(const CommandOutline& command) {
  std::string text;
  for (const auto& setting : all_settings()) {
    if (setting.values.empty()) continue;
    text += fmt::format("    \" {} {}\")\n      _regard_words \"{}\"; return ;;\n",
                        command.command_path(), setting.key, fmt::join(setting.values, " "));
  }
  return text;
}

// Returns the words "KEY=" of all settings.
std::string bash_setting_words() {
  std::string text;
  for (const auto& setting : all_settings()) text += " " + setting.key + "=";
  return text.substr(1);
}

// Returns the branch of `case "$command"` that completes the next word: options after a dash,
// otherwise subcommands, files or settings.
std::string bash_next_case(const CommandOutline& command) {
  std::string options;
  for (const auto& option : command.options) {
    options += fmt::format("{}{}", options.empty() ? "" : " ", fmt::join(option.names, " "));
  }
  std::string others;
  if (!command.commands.empty()) {
    std::vector<std::string> names;
    for (const auto& subcommand : command.commands) names.push_back(subcommand.last_word());
    others = fmt::format("_regard_words \"{}\"", fmt::join(names, " "));
  } else if (takes_settings(command)) {
    others = "_regard_words \"$settings\"; compopt -o nospace 2>/dev/null";
  } else if (!command.arguments.empty()) {
    others = bash_value_call(command.arguments.front());
  }
  const auto path = command.command_path();
  return fmt::format(
      "    \"{}{}\")\n      if [[ $current == -* ]]; then _regard_words \"{}\"; else {}; fi ;;\n",
      path.empty() ? "" : " ", path, options, others.empty() ? ":" : others);
}

std::string bash_completions(const CommandOutline& program) {
  std::vector<std::string> commands;
  std::string value_cases;
  std::string next_cases;
  for (const auto* command : all_commands(program)) {
    if (command != &program) commands.push_back("\" " + command->command_path() + "\"");
    for (const auto& option : command->options) value_cases += bash_value_case(*command, option);
    if (takes_settings(*command)) value_cases += bash_setting_cases(*command);
    next_cases += bash_next_case(*command);
  }
  std::string text = bash_header;
  text += fmt::format("  local settings=\"{}\"\n", bash_setting_words());
  text += "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$command $word\" in\n";
  text += fmt::format("      {}) command=\"$command $word\" ;;\n    esac\n  done\n",
                      fmt::join(commands, " | "));
  text += "  case \"$command $previous\" in\n" + value_cases + "  esac\n";
  text += "  case \"$command\" in\n" + next_cases + "  esac\n}\n\ncomplete -F _regard regard\n";
  return text;
}

// Returns text in single quotes, with a backslash before each character of `special`.
std::string zsh_quote(std::string_view text, std::string_view special) {
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

// Returns the action of zsh's _arguments that completes a value; " " if no completion is possible.
std::string zsh_action(const OptionOutline& option) {
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

// Returns ":description:action" for the value of an option.
std::string zsh_value_spec(const OptionOutline& option) {
  if (option.kind == ValueKind::none) return "";
  const auto description = option.kind == ValueKind::choice ? "value" : option.value;
  return fmt::format(":{}:{}", description, zsh_action(option));
}

// Returns the specification of an option for _arguments: 'names'[help]:value:action. Names in
// parentheses exclude each other; an asterisk allows an option several times.
std::string zsh_option_spec(const OptionOutline& option) {
  const auto help = zsh_quote("[" + brief(option.help) + "]", ":");
  const auto value = "'" + zsh_value_spec(option) + "'";
  const auto names = fmt::format("{}", fmt::join(option.names, ","));
  const auto help_and_value = option.kind == ValueKind::none ? help : help + value;
  if (option.repeated) {
    return option.names.size() == 1 ? fmt::format("'*'{}{}", names, help_and_value)
                                    : fmt::format("'*'{{{}}}{}", names, help_and_value);
  }
  if (option.names.size() == 1) return names + help_and_value;
  return fmt::format("'({})'{{{}}}{}", fmt::join(option.names, " "), names, help_and_value);
}

// `number` is the position of the argument, from 1.
std::string zsh_argument_spec(const OptionOutline& argument, std::size_t number) {
  const auto position = argument.repeated ? std::string("*") : std::to_string(number);
  return fmt::format("'{}{}'", position, zsh_value_spec(argument));
}

std::string zsh_function_name(const CommandOutline& command) {
  auto name = "_" + command.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

// Returns the call of _arguments for the options and positional arguments of a command. `flags` are
// flags of _arguments itself.
std::string zsh_arguments_call(const CommandOutline& command, const std::string& flags) {
  std::string text = "  _arguments " + flags;
  for (const auto& option : command.options) text += " \\\n    " + zsh_option_spec(option);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    text += " \\\n    " + zsh_argument_spec(command.arguments[i], i + 1);
  }
  return text;
}

// Returns the function that completes a command. If the command has subcommands, the function
// dispatches to theirs.
std::string zsh_function(const CommandOutline& command) {
  const auto name = zsh_function_name(command);
  if (command.commands.empty()) {
    return fmt::format("{}() {{\n{}\n}}\n\n", name, zsh_arguments_call(command, "-s"));
  }
  std::string list;
  for (const auto& subcommand : command.commands) {
    list += "\n    " + zsh_quote(subcommand.last_word() + ":" + brief(subcommand.help), "");
  }
  return fmt::format(
      "{0}() {{\n  local curcontext=$curcontext state line\n  local -a commands=({1})\n{2} \\\n    "
      "'1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n    command) _describe command commands ;;\n"
      "    argument) (( $+functions[{0}_$line[1]] )) && {0}_$line[1] ;;\n  esac\n}}\n\n",
      name, list, zsh_arguments_call(command, "-C"));
}

std::string zsh_settings_function() {
  std::string keys;
  std::string values;
  for (const auto& setting : all_settings()) {
    keys += "\n    " + zsh_quote(setting.key + ":" + brief(setting.help), "");
    if (setting.values.empty()) continue;
    values += fmt::format("      {}) compadd {} ;;\n", setting.key, fmt::join(setting.values, " "));
  }
  return fmt::format(
      "_regard_settings() {{\n  local -a keys=({})\n  if [[ $PREFIX == *=* ]]; then\n"
      "    local key=${{PREFIX%%=*}}\n    compset -P '*='\n    case $key in\n{}      *) _files ;;\n"
      "    esac\n  else\n    _describe setting keys -S '='\n  fi\n}}\n\n",
      keys, values);
}

std::string zsh_completions(const CommandOutline& program) {
  std::string text =
      "#compdef regard\n# zsh completion of regard, written by `regard completions zsh`\n\n";
  text += zsh_settings_function();
  for (const auto* command : all_commands(program)) text += zsh_function(*command);
  return text +
         "if [[ $funcstack[1] == _regard ]]; then\n  _regard \"$@\"\nelse\n  compdef _regard "
         "regard\nfi\n";
}

std::string fish_quote(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Returns the start of a `complete` line that is active only after this command.
std::string fish_line_start(const CommandOutline& command) {
  return fmt::format("complete -c regard -n '__regard_at {}'", command.command_path());
}

// Returns the flags of fish's `complete` for the value of an option: -r requires a value, -F
// completes files, -x requires a value that is not a file.
std::string fish_value_flags(const OptionOutline& option) {
  switch (option.kind) {
    case ValueKind::none:
      return "";
    case ValueKind::choice:
      return fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
    case ValueKind::file:
      return " -r -F";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    default:
      return " -x";
  }
}

std::string fish_option_line(const CommandOutline& command, const OptionOutline& option) {
  auto line = fish_line_start(command);
  for (const auto& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
  }
  return line + fish_value_flags(option) + " -d " + fish_quote(brief(option.help)) + "\n";
}

std::string fish_argument_line(const CommandOutline& command, const OptionOutline& argument) {
  switch (argument.kind) {
    case ValueKind::setting:
      return fish_line_start(command) + " -a '(__regard_settings)'\n";
    case ValueKind::file:
      return fish_line_start(command) + " -F\n";
    case ValueKind::folder:
      return fish_line_start(command) + " -a '(__fish_complete_directories)'\n";
    case ValueKind::choice:
      return fmt::format("{} -a '{}'\n", fish_line_start(command),
                         fmt::join(argument.choices, " "));
    default:
      return "";
  }
}

std::string fish_settings_function() {
  std::string text = "function __regard_settings\n";
  for (const auto& setting : all_settings()) {
    const auto help = fish_quote(brief(setting.help));
    const auto values = setting.values.empty() ? std::vector<std::string>{""} : setting.values;
    for (const auto& value : values) {
      text += fmt::format("    printf '%s\\t%s\\n' {}={} {}\n", setting.key, value, help);
    }
  }
  return text + "end\n\n";
}

std::string fish_completions(const CommandOutline& program) {
  std::string lines;
  std::vector<std::string> commands;
  for (const auto* command : all_commands(program)) {
    if (command != &program) commands.push_back("'" + command->command_path() + "'");
    for (const auto& subcommand : command->commands) {
      lines += fmt::format("{} -a {} -d {}\n", fish_line_start(*command), subcommand.last_word(),
                           fish_quote(brief(subcommand.help)));
    }
    for (const auto& option : command->options) lines += fish_option_line(*command, option);
    for (const auto& argument : command->arguments) lines += fish_argument_line(*command, argument);
  }
  // __regard_at PATH is true if the words before the cursor name this command.
  return "# fish completion of regard, written by `regard completions fish`\n\n" +
         fish_settings_function() +
         fmt::format(
             "function __regard_at\n    set -l command\n"
             "    for word in (commandline -opc)[2..-1]\n"
             "        set -l next (string trim -- \"$command $word\")\n"
             "        contains -- $next {}; and set command $next\n    end\n"
             "    test \"$command\" = \"$argv\"\nend\n\ncomplete -c regard -f\n",
             fmt::join(commands, " ")) +
         lines;
}

struct Shell {
  std::string_view name;
  std::string (*write)(const CommandOutline&);
};

constexpr Shell shells[] = {
    {"bash", bash_completions}, {"zsh", zsh_completions}, {"fish", fish_completions}};

}  // namespace

std::string completions(const CommandOutline& program, const std::string& shell) {
  std::vector<std::string> names;
  for (const auto& known : shells) {
    if (known.name == shell) return known.write(program);
    names.emplace_back(known.name);
  }
  throw unknown_name("shell", shell, names);
}

}  // namespace regard
