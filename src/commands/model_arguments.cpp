#include "commands/model_arguments.h"

#include "checkpoint/run_folder.h"
#include "translation/device.h"

namespace regard {

CLI::Option* add_model_options(CLI::App& command, ModelArguments& arguments) {
  command.add_option("--device", arguments.device,
                     "auto (cuda:0 where there is one), cpu, cuda or cuda:N");
  command.add_option("--threads", arguments.threads, "processor threads; 0 is one a core")
      ->check(CLI::Range(0, 1024));
  return command.add_option("-m,--model", arguments.model,
                            "a run folder (its best model, else its last) or a model folder");
}

ReadyModel load_model(const ModelArguments& arguments) {
  const auto path = resolve_model(arguments.model);
  const auto device = find_device(arguments.device);
  auto workers = make_workers(arguments.threads, device);
  return {path, device, std::move(workers), load_model(path, device)};
}

}  // namespace regard
