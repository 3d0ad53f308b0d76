// Signals during training. After SIGINT, SIGTERM or SIGHUP, the trainer finishes the step, saves
// and stops; the same signal a second time ends the process immediately. After SIGUSR1, the trainer
// saves and continues.
#pragma once

#include <utility>
#include <vector>

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

// The signals that any process of a training had received before the last agree(), and whether its
// time was up.
class SharedSignals {
 public:
  // `own` must outlive this object.
  explicit SharedSignals(const SignalCatcher& own) : own_(own) {}

  // Returns 1 for each signal that this process received and 0 for the others, and the same for
  // `time_is_up`, to be added up over all processes. May be called several times before agree().
  std::vector<double> received(bool time_is_up);
  // Takes these sums.
  void agree(const std::vector<double>& sums);

  // As SignalCatcher.
  int stop_signal() const { return stop_; }
  bool take_save_request() { return std::exchange(save_, false); }
  bool time_is_up() const { return time_is_up_; }
  // The last signal to stop that this process received, or 0.
  int own_stop_signal() const { return own_.stop_signal(); }

 private:
  const SignalCatcher& own_;
  bool own_save_ = false;  // SIGUSR1 was received since the last agree()
  int stop_ = 0;
  bool save_ = false;
  bool time_is_up_ = false;
};

// Ignores SIGUSR1, whose default action ends the process, until a SignalCatcher is created.
void ignore_save_signal();

}  // namespace regard
