#include "commands/failure.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/version.h"
#include "training/out_of_memory.h"

namespace regard {
namespace {

// LibTorch's messages end in the place of their making and the stack.
std::string_view without_stack(std::string_view message) {
  return message.substr(
      0, std::min(message.find("\nException raised from"), message.find("\nframe #")));
}

}  // namespace

ExitCode report_failure(const std::exception& error) {
  if (const auto* foreseen = dynamic_cast<const Error*>(&error)) {
    log::error("{}", error.what());
    return foreseen->code();
  }
  const auto message = without_stack(error.what());
  if (is_out_of_memory(error)) {
    log::error(
        "there is not enough memory: {}\nTake a smaller training.batch_size or --batch-size, a "
        "smaller data.max_length, or smaller sizes in `model`",
        message);
    return ExitCode::environment;
  }
  log::error("unexpected: {}\nThis is a fault of regard {}; please report it", message, version());
  return ExitCode::unexpected;
}

}  // namespace regard
