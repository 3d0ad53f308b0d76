// regard: parses the command line and executes regard-torch, which must be in the same folder. Runs
// commands that do not need LibTorch itself, because loading LibTorch is slow.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string_view>

#include "base/log.h"
#include "base/process.h"
#include "cli/command_line.h"
#include "commands/without_torch.h"

namespace {

using regard::ExitCode;

// Ignores SIGUSR1, which asks a training to save. regard-torch inherits this until it has loaded
// and installs its handler.
void ignore_early_save_requests(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "train") std::signal(SIGUSR1, SIG_IGN);
}

// Replaces this process by regard-torch with the same arguments. Returns only on failure.
ExitCode exec_regard_torch(char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto other = self.parent_path() / "regard-torch";
  if (!error) ::execv(other.c_str(), argv);
  regard::log::error("{}: {}; expected it in the folder of `regard`; install both", other.string(),
                     error ? error.message() : std::strerror(errno));
  return ExitCode::environment;
}

ExitCode run(int argc, char** argv) {
  regard::CommandLine command_line;
  auto exit_code = command_line.parse(argc, argv);
  if (!exit_code) exit_code = regard::run_without_torch(command_line);
  return exit_code ? *exit_code : exec_regard_torch(argv);
}

}  // namespace

int main(int argc, char** argv) {
  ignore_early_save_requests(argc, argv);
  regard::prepare_process();
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const std::exception& error) {
    return static_cast<int>(regard::report_failure(error));
  }
}
