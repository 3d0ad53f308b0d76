// SIGINT, SIGTERM and SIGHUP ask the training to finish its step, save and leave; a second one ends
// the process at once. SIGUSR1 asks it to save and go on.
#pragma once

namespace regard {

// While it lives, the signals are caught, but for those that were ignored when it was made, as
// nohup and a shell's background want it.
class SignalCatcher {
 public:
  SignalCatcher();
  ~SignalCatcher();
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;

  // The signal that asks to stop, or 0 while none has come. Callable from any thread.
  int caught() const;
  // True if a SIGUSR1 has come since the last call.
  bool save_wanted() const;
};

// A SIGUSR1 that comes before there is anything to save ends nothing.
void ignore_saving();

}  // namespace regard
