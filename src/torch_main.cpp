// regard-torch: runs the commands that need LibTorch and converts errors to exit codes.
#include <ATen/Parallel.h>

#include <exception>

#include "base/process.h"
#include "cli/command_line.h"
#include "commands/commands.h"

namespace {

// `regard` runs the other commands itself.
regard::ExitCode run(const regard::CommandLine& command_line) {
  return command_line
      .run(regard::train, regard::prepare, regard::features, regard::translate, regard::synthesize,
           regard::evaluate, regard::score, regard::rerank, regard::shortlist, regard::average,
           regard::quantize, regard::serve, regard::info, regard::report, regard::print_config)
      .value_or(regard::ExitCode::unexpected);
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
