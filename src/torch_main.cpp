// regard-torch: runs the commands that need LibTorch and converts errors to exit codes.
#include <ATen/Parallel.h>

#include <exception>

#include "base/process.h"
#include "cli/command_line.h"
#include "commands/commands.h"

namespace {

using regard::Command;
using regard::ExitCode;

ExitCode run(const regard::CommandLine& arguments) {
  switch (arguments.command) {
    case Command::train:
      return regard::train(arguments.train);
    case Command::prepare:
      return regard::prepare(arguments.prepare);
    case Command::features:
      return regard::features(arguments.features);
    case Command::translate:
      return regard::translate(arguments.translate);
    case Command::synthesize:
      return regard::synthesize(arguments.synthesize);
    case Command::evaluate:
      return regard::evaluate(arguments.evaluate);
    case Command::score:
      return regard::score(arguments.score);
    case Command::rerank:
      return regard::rerank(arguments.rerank);
    case Command::shortlist:
      return regard::shortlist(arguments.shortlist);
    case Command::average:
      return regard::average(arguments.average);
    case Command::quantize:
      return regard::quantize(arguments.quantize);
    case Command::serve:
      return regard::serve(arguments.serve);
    case Command::info:
      return regard::info(arguments.info);
    case Command::report:
      return regard::report(arguments.report);
    case Command::config_print:
      return regard::print_config(arguments.config);
    default:  // `regard` runs the other commands itself
      break;
  }
  return ExitCode::unexpected;
}

}  // namespace

int main(int argc, char** argv) {
  regard::prepare_process();
  regard::keep_freed_memory();
  at::set_num_threads(1);  // regard uses its own ThreadPool
  try {
    regard::CommandLine command_line;
    const auto exit_code = command_line.parse(argc, argv);
    return static_cast<int>(exit_code ? *exit_code : run(command_line));
  } catch (const std::exception& error) {
    return static_cast<int>(regard::report_failure(error));
  }
}
