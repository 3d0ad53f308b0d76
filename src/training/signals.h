// Signals during training. After SIGINT, SIGTERM or SIGHUP, the trainer finishes the step, saves
// and stops; the same signal a second time ends the process immediately. After SIGUSR1, the trainer
// saves and continues.
#pragma once

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

// The signals that count for a training, and whether its time is up: those of this process or, if
// several train together, those that any of them had before the last agree().
class SharedSignals {
 public:
  // `own` must outlive this object.
  SharedSignals(const SignalCatcher& own, bool is_alone) : own_(own), is_alone_(is_alone) {}

  // Returns 1 for each signal that this process received and 0 for the others, and the same for
  // `time_is_up`, to be added up over all processes; nothing if it is alone.
  std::vector<double> received(bool time_is_up) const;
  // Takes these sums.
  void agree(const std::vector<double>& sums);

  // As SignalCatcher.
  int stop_signal() const { return is_alone_ ? own_.stop_signal() : stop_; }
  bool take_save_request();
  // Returns whether the time of the training is up; `own` is what this process says.
  bool time_is_up(bool own) const { return is_alone_ ? own : time_is_up_; }
  // The last signal to stop that this process received, or 0.
  int own_stop_signal() const { return own_.stop_signal(); }
  bool is_alone() const { return is_alone_; }

 private:
  const SignalCatcher& own_;
  bool is_alone_;
  int stop_ = 0;
  bool save_ = false;
  bool time_is_up_ = false;
};

// Ignores SIGUSR1, whose default action ends the process, until a SignalCatcher is created.
void ignore_save_signal();

}  // namespace regard
