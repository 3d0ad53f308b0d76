#include "commands/ready_model.h"

#include "base/error.h"
#include "checkpoint/run_folder.h"
#include "config/check.h"
#include "translation/device.h"

namespace regard {

ReadyModel load_model(const ModelArguments& arguments) {
  const auto path = resolve_model(arguments.model);
  const auto device = find_device(arguments.device);
  auto workers = make_workers(arguments.threads, device);
  return {path, device, std::move(workers), load_model(path, device)};
}

void check_search(const TestingOptions& options, const ReadyModel& model) {
  check_testing_options(options);
  if (options.coverage_beta > 0 && !model.loaded.model->shows_attention()) {
    throw ConfigError(
        "coverage_beta is {}, but the model has no attention, and coverage is a sum of attention "
        "weights; set it to 0",
        options.coverage_beta);
  }
}

}  // namespace regard
