// regard: understands the command line, and hands it to regard-torch, which lies beside it. What
// needs no model, --help or a mistake or completions, is answered at once: loading LibTorch takes
// longer.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "answers/answers.h"
#include "base/log.h"
#include "cli/command_line.h"

namespace {

// Becomes the other program, with the same words. Returns only where that failed.
regard::ExitCode hand_over(char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto other = self.parent_path() / "regard-torch";
  if (!error) execv(other.c_str(), argv);
  regard::log::error("{}: {}; it belongs beside `regard`, install both", other.string(),
                     error ? error.message() : std::strerror(errno));
  return regard::ExitCode::environment;
}

}  // namespace

int main(int argc, char** argv) {
  regard::CommandLine command_line;
  auto answered = command_line.parse(argc, argv);
  if (!answered) answered = regard::answer(command_line);
  return static_cast<int>(answered ? *answered : hand_over(argv));
}
