#include "cli/model_arguments.h"

namespace regard {

void add_device_options(CLI::App& command, ModelArguments& arguments) {
  command.add_option("--device", arguments.device,
                     "auto (cuda:0 where there is one), cpu, cuda or cuda:N");
  command.add_option("--threads", arguments.threads, "processor threads; 0 is one a core")
      ->check(CLI::Range(0, 1024));
}

CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments) {
  add_device_options(command, arguments);
  return command.add_option("-m,--model", arguments.model,
                            "a run folder (its best model, else its last) or a model folder");
}

}  // namespace regard
