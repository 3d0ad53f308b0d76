#include "cli/model_arguments.h"

#include "cli/numbers.h"

namespace regard {

void add_device_options(CLI::App& command, ModelArguments& arguments) {
  command
      .add_option("--device", arguments.device,
                  "where tensors live; auto is cuda:0 where there is one; also cuda:N")
      ->type_name("auto|cpu|cuda");
  command
      .add_option("--threads", arguments.threads,
                  "processor threads; 0 is one for each processor that this process may use")
      ->transform(whole_number(0, 1024))
      ->type_name("N");
}

CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments) {
  add_device_options(command, arguments);
  auto* model = command
                    .add_option("-m,--model", arguments.models,
                                "a run folder (its best model, else its last) or a model folder; "
                                "several, of the same vocabularies, translate together")
                    ->type_name("MODEL");
  command
      .add_option("--ensemble-mean", arguments.ensemble_mean,
                  "of several models: log_linear, of their log-probabilities (as it is unless "
                  "given), or linear, of their probabilities")
      ->needs(model)
      ->type_name("log_linear|linear");
  command
      .add_option("--ensemble-weights", arguments.ensemble_weights,
                  "of several models: what each counts, above 0; equal unless given")
      ->needs(model)
      ->delimiter(',')
      ->transform(real_number(0))
      ->type_name("N");
  return model;
}

}  // namespace regard
