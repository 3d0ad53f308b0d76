#include "cli/command_line.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/quiet.h"
#include "base/version.h"
#include "cli/documents.h"
#include "cli/misuse.h"

namespace regard {
namespace {

// What every command has: examples below its help, and --quiet where it does something.
void finish(CLI::App& command, bool& quiet, const std::string& words = "") {
  command.footer(examples_text(examples_of(words)));
  const auto below = command.get_subcommands([](CLI::App*) { return true; });
  if (below.empty()) {
    command.add_flag("-q,--quiet", quiet, "say nothing but warnings and errors");
  }
  for (auto* next : below) {
    finish(*next, quiet, words.empty() ? next->get_name() : words + " " + next->get_name());
  }
}

// `help config print` as `config print --help`, and `version` as `--version`.
std::vector<std::string> with_help_as_option(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "version") words.front() = "--version";
  if (words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

}  // namespace

CommandLine::CommandLine()
    : program_("Train and run sequence-to-sequence translators with attention.", "regard") {
  program_.set_version_flag("-V,--version", version_report(),
                            "Print the versions of regard and LibTorch, and the kernels in use");
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
  const auto configs = add_config(program_, config, config_init, config_convert);
  configs.print->callback(is(Verb::config_print));
  configs.init->callback(is(Verb::config_init));
  configs.convert->callback(is(Verb::config_convert));
  configs.docs->callback(is(Verb::config_docs));
  configs.schema->callback(is(Verb::config_schema));
  add_completions(program_, completions)->callback(is(Verb::completions));
  add_man(program_, man)->callback(is(Verb::man));
  finish(program_, quiet);
  program_.footer(program_.get_footer() + "\n\nDocuments: " + documents_folder());
}

std::optional<ExitCode> CommandLine::parse(int argc, char** argv) {
  const auto words = with_help_as_option({argv + 1, argv + std::max(argc, 1)});
  const auto refuse = [&](const std::string& why) { return report_misuse(program_, why, words); };
  if (const auto misread = misread_option(program_, words)) return refuse(*misread);
  try {
    program_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 || names_no_command(program_)) {
      const auto misplaced = misplaced_file(program_);
      return refuse(misplaced ? *misplaced : complaint(program_, error, words));
    }
    program_.exit(error);  // --help, --version
    if (std::cout.flush()) return ExitCode::ok;
    log::error("standard output: cannot be written");
    return ExitCode::environment;
  }
  if (const auto misplaced = misplaced_file(program_)) return refuse(*misplaced);
  if (quiet) be_quiet();
  return std::nullopt;
}

}  // namespace regard
