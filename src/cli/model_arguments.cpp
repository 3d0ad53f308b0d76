#include "cli/model_arguments.h"

namespace regard {

CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments) {
  command
      .add_option("--device", arguments.device,
                  "where tensors live; auto is cuda:0 where there is one; also cuda:N")
      ->type_name("auto|cpu|cuda");
  command.add_option("--threads", arguments.threads, "processor threads; 0 is one a core")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  return command
      .add_option("-m,--model", arguments.model,
                  "a run folder (its best model, else its last) or a model folder")
      ->type_name("MODEL");
}

}  // namespace regard
