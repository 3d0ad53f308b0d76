#include "cli/command_line.h"

#include <iostream>

#include "base/log.h"
#include "base/version.h"
#include "cli/misuse.h"

namespace regard {

CommandLine::CommandLine()
    : program_("Train and run sequence-to-sequence translators with attention.", "regard") {
  program_.set_version_flag("--version", version());
  program_.require_subcommand(1);
  program_.set_help_all_flag("--help-all", "Print the help of every command");
  const auto is = [this](Verb which) { return [this, which] { verb = which; }; };
  add_train(program_, train)->callback(is(Verb::train));
  add_translate(program_, translate)->callback(is(Verb::translate));
  add_evaluate(program_, evaluate)->callback(is(Verb::evaluate));
  add_score(program_, score)->callback(is(Verb::score));
  add_average(program_, average)->callback(is(Verb::average));
  add_info(program_, info)->callback(is(Verb::info));
  add_report(program_, report)->callback(is(Verb::report));
  const auto configs = add_config(program_, config);
  configs.print->callback(is(Verb::config_print));
  configs.docs->callback(is(Verb::config_docs));
  configs.schema->callback(is(Verb::config_schema));
}

std::optional<ExitCode> CommandLine::parse(int argc, char** argv) {
  try {
    program_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return report_misuse(program_, error);
    program_.exit(error);  // --help, --version
    if (std::cout.flush()) return ExitCode::ok;
    log::error("standard output: cannot be written");
    return ExitCode::environment;
  }
  return std::nullopt;
}

}  // namespace regard
