#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completions.h"
#include "config/settings.h"

namespace regard {
namespace {

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Where a line of completions holds: at this command.
std::string at(const CommandOutline& command) {
  return fmt::format("complete -c regard -n '__regard_at {}'", command.words());
}

std::string value_flags(const OptionOutline& option) {
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

std::string option_line(const CommandOutline& command, const OptionOutline& option) {
  auto line = at(command);
  for (const auto& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
  }
  return line + value_flags(option) + " -d " + in_quotes(brief(option.help)) + "\n";
}

std::string argument_line(const CommandOutline& command, const OptionOutline& argument) {
  switch (argument.kind) {
    case ValueKind::setting:
      return at(command) + " -a '(__regard_settings)'\n";
    case ValueKind::file:
      return at(command) + " -F\n";
    case ValueKind::folder:
      return at(command) + " -a '(__fish_complete_directories)'\n";
    case ValueKind::choice:
      return fmt::format("{} -a '{}'\n", at(command), fmt::join(argument.choices, " "));
    default:
      return "";
  }
}

std::string settings_function() {
  std::string text = "function __regard_settings\n";
  for (const auto& setting : all_settings()) {
    const auto help = in_quotes(brief(setting.help));
    const auto values = setting.values.empty() ? std::vector<std::string>{""} : setting.values;
    for (const auto& value : values) {
      text += fmt::format("    printf '%s\\t%s\\n' {}={} {}\n", setting.key, value, help);
    }
  }
  return text + "end\n\n";
}

}  // namespace

std::string fish_completions(const CommandOutline& program) {
  std::string lines;
  std::vector<std::string> commands;
  for (const auto* command : all_commands(program)) {
    if (command != &program) commands.push_back("'" + command->words() + "'");
    for (const auto& next : command->commands) {
      lines += fmt::format("{} -a {} -d {}\n", at(*command), next.last_word(),
                           in_quotes(brief(next.help)));
    }
    for (const auto& option : command->options) lines += option_line(*command, option);
    for (const auto& argument : command->arguments) lines += argument_line(*command, argument);
  }
  return "# fish completion of regard, as `regard completions fish` writes it\n\n" +
         settings_function() +
         fmt::format(
             "function __regard_at\n    set -l command\n"
             "    for word in (commandline -opc)[2..-1]\n"
             "        set -l next (string trim -- \"$command $word\")\n"
             "        contains -- $next {}; and set command $next\n    end\n"
             "    test \"$command\" = \"$argv\"\nend\n\ncomplete -c regard -f\n",
             fmt::join(commands, " ")) +
         lines;
}

}  // namespace regard
