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
    "once, "
    "without saving.\n";

volatile std::sig_atomic_t caught_signal = 0;

extern "C" void remember(int signal) {
  caught_signal = signal;
  std::signal(signal, SIG_DFL);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, answer.data(), answer.size());
}

}  // namespace

SignalCatcher::SignalCatcher() {
  caught_signal = 0;
  for (const int signal : stopping) std::signal(signal, remember);
}

SignalCatcher::~SignalCatcher() {
  for (const int signal : stopping) std::signal(signal, SIG_DFL);
}

int SignalCatcher::caught() const {
  return caught_signal;
}

}  // namespace regard
