#include "training/signals.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string_view>

namespace regard {
namespace {

constexpr std::array stop_signals = {SIGINT, SIGTERM, SIGHUP};
constexpr std::string_view message =
    "\nStopping after the current step, which is saved; the same signal again stops at once, "
    "without saving.\n";

// Set by handlers and read by any thread.
std::atomic<int> last_stop_signal = 0;
std::atomic<bool> save_requested = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void on_stop_signal(int signal) {
  last_stop_signal = signal;
  std::signal(signal, SIG_DFL);  // a second one ends the process
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
}

extern "C" void on_save_signal(int /*signal*/) {
  save_requested = true;
}

}  // namespace

SignalCatcher::SignalCatcher() {
  last_stop_signal = 0;
  save_requested = false;
  struct sigaction action = {};
  action.sa_handler = on_save_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
  for (const int signal : stop_signals) {
    if (std::signal(signal, on_stop_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

SignalCatcher::~SignalCatcher() {
  for (const int signal : stop_signals) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  ignore_save_signal();  // a late SIGUSR1 must not end the process
}

void ignore_save_signal() {
  std::signal(SIGUSR1, SIG_IGN);
}

int SignalCatcher::stop_signal() const {
  return last_stop_signal;
}

bool SignalCatcher::take_save_request() const {
  return save_requested.exchange(false);
}

std::vector<double> SharedSignals::received(bool time_is_up) {
  own_save_ = own_.take_save_request() || own_save_;
  std::vector<double> counts;
  counts.reserve(stop_signals.size() + 2);
  for (const int signal : stop_signals) counts.push_back(own_.stop_signal() == signal ? 1 : 0);
  counts.push_back(own_save_ ? 1 : 0);
  counts.push_back(time_is_up ? 1 : 0);
  return counts;
}

void SharedSignals::agree(const std::vector<double>& sums) {
  own_save_ = false;
  stop_ = 0;
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    if (stop_ == 0 && sums[i] > 0) stop_ = stop_signals[i];
  }
  save_ = sums[stop_signals.size()] > 0;
  time_is_up_ = sums.back() > 0;
}

}  // namespace regard
