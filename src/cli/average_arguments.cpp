#include "cli/average_arguments.h"

#include "cli/numbers.h"

namespace regard {

CLI::App* add_average(CLI::App& program, AverageArguments& arguments) {
  auto* command = program.add_subcommand(
      "average", "Make one model of several: each weight the mean of theirs");
  command
      ->add_option(
          "models", arguments.models,
          "one run folder, with --last or --best; or two models or more, each a run folder "
          "(its best model, else its last) or a model folder")
      ->required()
      ->type_name("MODEL");
  auto* last = command->add_option("--last", arguments.last, "the run's N newest checkpoints");
  last->transform(whole_number(1, 1000))->type_name("N");
  command
      ->add_option("--best", arguments.best,
                   "the run's N checkpoints that validated best, by training.early_stopping_metric")
      ->transform(whole_number(1, 1000))
      ->type_name("N")
      ->excludes(last);
  command
      ->add_option("-o,--output", arguments.output,
                   "where the model folder goes; a model of before is replaced")
      ->type_name("FOLDER")
      ->required();
  return command;
}

}  // namespace regard
