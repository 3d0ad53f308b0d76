// Signals during training. After SIGINT, SIGTERM or SIGHUP, the trainer finishes the step, saves
// and stops; the same signal a second time ends the process immediately. After SIGUSR1, the trainer
// saves and continues.
#pragma once

namespace regard {

// Catches the signals for its lifetime. SIGINT, SIGTERM or SIGHUP stays ignored if it was ignored
// before: nohup and shells start processes so. Only one object may exist at a time.
class SignalCatcher {
 public:
  SignalCatcher();
  ~SignalCatcher();
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;

  // Returns the last signal to stop, or 0. Thread-safe.
  int stop_signal() const;
  // Returns true if SIGUSR1 was received since the last call. Thread-safe.
  bool take_save_request() const;
};

// Ignores SIGUSR1, whose default action ends the process, until a SignalCatcher is created.
void ignore_save_signal();

}  // namespace regard
