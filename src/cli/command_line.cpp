#include "cli/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/terminal.h"
#include "base/version.h"
#include "cli/usage_errors.h"

namespace regard {
namespace {

// Adds examples to the help of a command and of all its subcommands. Adds --quiet to every command
// without subcommands. `path` is the words of the command after "regard".
void add_examples_and_quiet(CLI::App& command, bool& quiet, const std::string& path = "") {
  command.footer(examples_text(examples_of(path)));
  const auto subcommands = command.get_subcommands([](CLI::App*) { return true; });
  if (subcommands.empty()) {
    command.add_flag("-q,--quiet", quiet, "print only warnings and errors");
  }
  for (auto* subcommand : subcommands) {
    add_examples_and_quiet(
        *subcommand, quiet,
        path.empty() ? subcommand->get_name() : path + " " + subcommand->get_name());
  }
}

// Rewrites `help config print` to `config print --help`, `version` to `--version`, and sacreBLEU's
// `-sl` to the option of `evaluate`.
std::vector<std::string> rewrite_words(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "evaluate") {
    std::ranges::replace(words, std::string("-sl"), std::string("--sentence-level"));
  }
  if (words.front() == "version") words.front() = "--version";
  if (words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

// Adds commands. Parsing a command sets `parsed` to its arguments.
template <typename... Arguments>
void add_commands(CLI::App& parent, CommandArguments& parsed,
                  CLI::App* (*... functions)(CLI::App&, Arguments&)) {
  const auto add_command = [&]<typename Given>(const std::shared_ptr<Given>& given, auto add) {
    add(parent, *given)->callback([&parsed, given] { parsed.template emplace<Given>(*given); });
  };
  (add_command(std::make_shared<Arguments>(), functions), ...);
}

}  // namespace

CommandLine::CommandLine()
    : program_(std::make_unique<CLI::App>(
          "Train and run sequence-to-sequence translators with attention.", "regard")) {
  program_->set_version_flag("-V,--version", version_report(),
                             "Print the versions of regard and LibTorch, and the kernels in use");
  program_->require_subcommand(1);
  program_->set_help_all_flag("--help-all", "Print the help of every command");
  add_commands(*program_, parsed, add_train, add_prepare, add_features, add_translate,
               add_synthesize, add_evaluate, add_score, add_rerank, add_shortlist, add_average,
               add_quantize, add_serve, add_info, add_report, add_export, add_pipeline);
  add_commands(*add_config(*program_), parsed, add_config_print, add_config_init,
               add_config_convert, add_config_docs, add_config_schema);
  add_commands(*program_, parsed, add_completions, add_man);
  add_examples_and_quiet(*program_, quiet);
  program_->footer(program_->get_footer() + "\n\nDocumentation: " + docs_folder());
}

CommandLine::~CommandLine() = default;

CommandOutline CommandLine::outline() const {
  return regard::outline(*program_);
}

std::optional<std::string> CommandLine::find_fault(const std::vector<std::string>& words) {
  if (auto error = find_misread_option(*program_, words)) return error;
  try {
    // CLI11 expects the arguments in reverse order.
    program_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    // For `regard UNKNOWN --help`, the parser reports a request for help.
    if (error.get_exit_code() == 0 && !has_unknown_command(*program_)) throw;
    const auto misplaced = find_misplaced_file(*program_);
    return misplaced ? *misplaced : describe_error(*program_, error, words);
  }
  return find_misplaced_file(*program_);
}

std::optional<std::vector<std::string>> CommandLine::values_of(const std::string& option) const {
  for (const auto* command : program_->get_subcommands()) {
    if (const auto* found = command->get_option_no_throw(option)) return found->results();
  }
  return std::nullopt;
}

std::optional<ExitCode> CommandLine::parse(int argc, char** argv) {
  const auto words = rewrite_words({argv + 1, argv + std::max(argc, 1)});
  if (!words.empty() && words.front() == "__complete") {  // called by the scripts of `completions`
    std::cout << completion_candidates(outline(), {words.begin() + 1, words.end()}) << std::flush;
    return ExitCode::ok;
  }
  try {
    if (const auto fault = find_fault(words)) return report_usage_error(*program_, *fault, words);
  } catch (const CLI::ParseError& help) {
    std::ostringstream text;  // of --help, --version
    program_->exit(help, text);
    if (std::cout << text_for(STDOUT_FILENO, text.str()) << std::flush) return ExitCode::ok;
    log::error("standard output: cannot be written");
    return ExitCode::environment;
  }
  if (quiet) log::set_quiet();
  return std::nullopt;
}

}  // namespace regard
