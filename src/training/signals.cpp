#include "training/signals.h"

#include <csignal>

namespace regard {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

extern "C" void remember(int signal) {
  caught_signal = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

SignalCatcher::SignalCatcher() {
  caught_signal = 0;
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
}

SignalCatcher::~SignalCatcher() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int SignalCatcher::caught() const {
  return caught_signal;
}

}  // namespace regard
