// regard-torch: runs what the command line asks for, and turns an error into its exit code.
#include <ATen/Parallel.h>

#include <exception>

#include "base/failure.h"
#include "base/process.h"
#include "cli/command_line.h"
#include "commands/commands.h"

namespace {

using regard::ExitCode;
using regard::Verb;

ExitCode run(const regard::CommandLine& given) {
  switch (given.verb) {
    case Verb::train:
      return regard::train(given.train);
    case Verb::translate:
      return regard::translate(given.translate);
    case Verb::evaluate:
      return regard::evaluate(given.evaluate);
    case Verb::score:
      return regard::score(given.score);
    case Verb::average:
      return regard::average(given.average);
    case Verb::info:
      return regard::info(given.info);
    case Verb::report:
      return regard::report(given.report);
    case Verb::config_print:
      return regard::print_config(given.config);
    default:  // what `regard` answers itself
      break;
  }
  return ExitCode::unexpected;
}

}  // namespace

int main(int argc, char** argv) {
  regard::prepare_process();
  at::set_num_threads(1);  // what is done in parallel is done by base/workers
  try {
    regard::CommandLine command_line;
    const auto answered = command_line.parse(argc, argv);
    return static_cast<int>(answered ? *answered : run(command_line));
  } catch (const std::exception& error) {
    return static_cast<int>(regard::report_failure(error));
  }
}
