#include "cli/train_arguments.h"

#include "cli/numbers.h"

namespace regard {

CLI::App* add_train(CLI::App& program, TrainArguments& arguments) {
  auto* command =
      program.add_subcommand("train", "Train a model, or go on with a run that was stopped");
  command->add_option("-c,--config", arguments.config, "the configuration (YAML)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("overrides", arguments.overrides,
                   "key=value, e.g. training.learning_rate=0.0005")
      ->type_name("KEY=VALUE");
  command->add_option("--device", arguments.device, "where tensors live; also cuda:N")
      ->type_name("auto|cpu|cuda");
  command
      ->add_option("--threads", arguments.threads,
                   "processor threads; 0 is one for each processor that this process may use")
      ->transform(whole_number(0, 1024))
      ->type_name("N");
  command
      ->add_option("--init-from", arguments.init_from,
                   "begin with the weights and vocabularies of this run or model folder")
      ->type_name("MODEL");
  command->add_flag("--fresh", arguments.fresh, "remove what the run has so far and start over");
  command->add_flag("--fall-back", arguments.fall_back,
                    "where the last checkpoint is damaged, go on from the newest sound one");
  auto* dry_run = command->add_flag("--dry-run", arguments.dry_run,
                                    "check everything, make one step, write nothing");
  command
      ->add_flag("--json", arguments.json,
                 "at the end, print what `regard info --json` says of the run")
      ->excludes(dry_run);
  return command;
}

}  // namespace regard
