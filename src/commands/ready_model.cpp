#include "commands/ready_model.h"

#include "checkpoint/run_folder.h"
#include "translation/device.h"

namespace regard {

ReadyModel load_model(const ModelArguments& arguments) {
  const auto path = resolve_model(arguments.model);
  const auto device = find_device(arguments.device);
  auto workers = make_workers(arguments.threads, device);
  return {path, device, std::move(workers), load_model(path, device)};
}

}  // namespace regard
