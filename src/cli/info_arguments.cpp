#include "cli/info_arguments.h"

namespace regard {

CLI::App* add_info(CLI::App& program, InfoArguments& arguments) {
  auto* command =
      program.add_subcommand("info", "Say what a model is, how it was trained, what it scored");
  command->add_option("model", arguments.model, "a run folder or a model folder")
      ->required()
      ->type_name("MODEL");
  command->add_flag("--json", arguments.json, "print one JSON object");
  return command;
}

}  // namespace regard
