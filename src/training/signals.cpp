#include "training/signals.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string_view>

namespace regard {
namespace {

constexpr std::array stopping = {SIGINT, SIGTERM, SIGHUP};
constexpr std::string_view message =
    "\nStopping after the current step, which is saved; the same signal again stops at once, "
    "without saving.\n";

// Set by handlers and read by any thread.
std::atomic<int> caught_signal = 0;
std::atomic<bool> wants_save = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void remember(int signal) {
  caught_signal = signal;
  std::signal(signal, SIG_DFL);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
}

extern "C" void remember_to_save(int /*signal*/) {
  wants_save = true;
}

}  // namespace

SignalCatcher::SignalCatcher() {
  caught_signal = 0;
  wants_save = false;
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
  ignore_saving();  // a late SIGUSR1 must not end the process
}

void ignore_saving() {
  std::signal(SIGUSR1, SIG_IGN);
}

int SignalCatcher::caught() const {
  return caught_signal;
}

bool SignalCatcher::save_wanted() const {
  return wants_save.exchange(false);
}

}  // namespace regard
