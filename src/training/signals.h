// Signals of a training. SIGINT, SIGTERM and SIGHUP finish the step, save and stop; a second one
// ends the process at once. SIGUSR1 saves and continues.
#pragma once

namespace regard {

// Catches the signals for its lifetime, except those that were ignored before, as nohup and a
// shell's background jobs do.
class SignalCatcher {
 public:
  SignalCatcher();
  ~SignalCatcher();
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;

  // Returns the signal to stop, 0 if there was none. Thread-safe.
  int caught() const;
  // Returns true if a SIGUSR1 came since the last call.
  bool save_wanted() const;
};

// Ignores SIGUSR1 until there is something to save.
void ignore_saving();

}  // namespace regard
