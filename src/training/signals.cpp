#include "training/signals.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

namespace regard {
namespace {

constexpr std::array stopping = {SIGINT, SIGTERM, SIGHUP};
constexpr std::string_view answer =
    "\nStopping: what is under way is finished and saved first; the same signal again ends at "
    "once, without saving.\n";

volatile std::sig_atomic_t caught_signal = 0;
volatile std::sig_atomic_t wants_save = 0;

extern "C" void remember(int signal) {
  caught_signal = signal;
  std::signal(signal, SIG_DFL);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, answer.data(), answer.size());
}

extern "C" void remember_to_save(int /*signal*/) {
  wants_save = 1;
}

}  // namespace

SignalCatcher::SignalCatcher() {
  caught_signal = 0;
  wants_save = 0;
  struct sigaction action = {};
  action.sa_handler = remember_to_save;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
  for (const int signal : stopping) {
    if (std::signal(signal, remember) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

SignalCatcher::~SignalCatcher() {
  for (const int signal : stopping) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  ignore_saving();  // one that comes late ends nothing
}

void ignore_saving() {
  std::signal(SIGUSR1, SIG_IGN);
}

int SignalCatcher::caught() const {
  return caught_signal;
}

bool SignalCatcher::save_wanted() const {
  const bool wanted = wants_save != 0;
  wants_save = 0;
  return wanted;
}

}  // namespace regard
