// regard: parses the command line and executes regard-torch, which must be in the same folder. Runs
// commands that do not need LibTorch itself, because loading LibTorch is slow.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

// Returns the limit of the address space in MB, or 0 if LibTorch certainly fits into it.
rlim_t tight_memory_limit() {
  constexpr rlim_t sufficient = rlim_t{4} << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= sufficient) return 0;
  return limit.rlim_cur >> 20;
}

// Runs the program in a child process and returns false if loading fails. Without memory the
// dynamic loader exits with code 127, or a static constructor of LibTorch ends in a signal. The
// child has less memory than this process, because loading does not always take the same.
bool can_load(const std::filesystem::path& program) {
  const pid_t child = ::fork();
  if (child < 0) return true;
  if (child == 0) {
    const int null_device = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(null_device, stream);
    const rlimit no_core_dump{};
    ::setrlimit(RLIMIT_CORE, &no_core_dump);
    rlimit memory{};
    ::getrlimit(RLIMIT_AS, &memory);
    memory.rlim_cur -= std::min<rlim_t>(memory.rlim_cur, rlim_t{4} << 20);
    ::setrlimit(RLIMIT_AS, &memory);
    ::execl(program.c_str(), "regard", "--version", nullptr);
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Replaces this process by regard-torch with the same arguments. Returns only on failure.
ExitCode exec_regard_torch(char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto other = self.parent_path() / "regard-torch";
  if (const auto limit = tight_memory_limit(); limit > 0 && !error && !can_load(other)) {
    regard::log::error(
        "not enough memory to load LibTorch: found a limit of {} MB (ulimit -v); raise it", limit);
    return ExitCode::environment;
  }
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
