// regard: understands the command line, and hands it to regard-torch, which lies beside it. What
// needs no model, --help or a mistake or completions, is answered at once: loading LibTorch takes
// longer.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string_view>

#include "answers/answers.h"
#include "base/failure.h"
#include "base/log.h"
#include "base/process.h"
#include "cli/command_line.h"

namespace {

using regard::ExitCode;

// SIGUSR1 asks a training to save. What is ignored stays so in regard-torch, which takes a while to
// load, until the training can answer.
void ignore_early_saving(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "train") std::signal(SIGUSR1, SIG_IGN);
}

// The limit to this process's address space in MB; 0 if it has none, or one that is surely enough
// for LibTorch to be loaded.
rlim_t tight_memory_limit() {
  constexpr rlim_t enough = rlim_t{4} << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= enough) return 0;
  return limit.rlim_cur >> 20;
}

// True unless a trial shows that the program cannot be loaded: without memory the dynamic loader
// ends it with code 127, or a constructor inside LibTorch with a signal, before main() begins.
bool can_be_loaded(const std::filesystem::path& program) {
  const pid_t trial = ::fork();
  if (trial < 0) return true;
  if (trial == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
    const rlimit no_core_dump{};
    ::setrlimit(RLIMIT_CORE, &no_core_dump);
    ::execl(program.c_str(), "regard", "--version", nullptr);
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(trial, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Becomes the other program, with the same words. Returns only where that failed.
ExitCode hand_over(char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto other = self.parent_path() / "regard-torch";
  if (const auto limit = tight_memory_limit(); limit > 0 && !error && !can_be_loaded(other)) {
    regard::log::error(
        "there is not enough memory to load LibTorch: found a limit of {} MB (ulimit -v); raise it",
        limit);
    return ExitCode::environment;
  }
  if (!error) ::execv(other.c_str(), argv);
  regard::log::error("{}: {}; it belongs beside `regard`, install both", other.string(),
                     error ? error.message() : std::strerror(errno));
  return ExitCode::environment;
}

ExitCode run(int argc, char** argv) {
  regard::CommandLine command_line;
  auto answered = command_line.parse(argc, argv);
  if (!answered) answered = regard::answer(command_line);
  return answered ? *answered : hand_over(argv);
}

}  // namespace

int main(int argc, char** argv) {
  ignore_early_saving(argc, argv);
  regard::prepare_process();
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const std::exception& error) {
    return static_cast<int>(regard::report_failure(error));
  }
}
