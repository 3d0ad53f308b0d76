// SIGINT, SIGTERM and SIGHUP ask the training to finish its step, save and leave; a second one ends
// the process at once.
#pragma once

namespace regard {

// While it lives, the signals are caught.
class SignalCatcher {
 public:
  SignalCatcher();
  ~SignalCatcher();
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;

  // The signal that asks to stop, or 0 while none has come.
  int caught() const;
};

}  // namespace regard
