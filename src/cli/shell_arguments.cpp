#include "cli/shell_arguments.h"

namespace regard {

CLI::App* add_completions(CLI::App& program, CompletionsArguments& arguments) {
  auto* command = program.add_subcommand("completions",
                                         "Print what makes a shell complete regard's command line");
  command->add_option("shell", arguments.shell, "which shell")
      ->required()
      ->type_name("bash|zsh|fish");
  return command;
}

CLI::App* add_man(CLI::App& program, ManArguments& arguments) {
  auto* command = program.add_subcommand("man", "Print a manual page, of regard or of a command");
  auto* verb = command->add_option("command", arguments.verb, "which command; regard unless given")
                   ->type_name("COMMAND");
  command->add_option("--into", arguments.into, "write all pages into this folder")
      ->excludes(verb)
      ->type_name("FOLDER");
  return command;
}

}  // namespace regard
