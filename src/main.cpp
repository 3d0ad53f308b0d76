// regard: adds the commands, parses, turns an error into its exit code.
#include <CLI/CLI.hpp>

#include <exception>

#include "base/version.h"
#include "commands/commands.h"
#include "commands/failure.h"
#include "commands/misuse.h"

int main(int argc, char** argv) {
  using regard::ExitCode;
  CLI::App program("Train and run sequence-to-sequence translators with attention.", "regard");
  program.set_version_flag("--version", regard::version());
  program.require_subcommand(1);
  program.set_help_all_flag("--help-all", "Print the help of every command");
  auto exit_code = ExitCode::ok;
  regard::add_train(program, exit_code);
  regard::add_translate(program, exit_code);
  regard::add_evaluate(program, exit_code);
  regard::add_info(program, exit_code);
  regard::add_config(program, exit_code);

  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    exit_code = regard::report_misuse(program, error);
  } catch (const std::exception& error) {
    exit_code = regard::report_failure(error);
  }
  return static_cast<int>(exit_code);
}
