// The learning rate at each step, as a function of the step and, for plateau, of the validations
// so far.
#pragma once

#include <cstdint>

#include "config/training_options.h"

namespace regard {

class Schedule {
 public:
  explicit Schedule(const TrainingOptions& options);

  // The rate of update `step`, counted from 1. Under each kind with linear warm-up over w steps:
  //   constant              lr
  //   plateau               lr · factor^n after n decreases
  //   inverse_square_root   lr · √(w / max(step, w)), w at least 1 (Vaswani et al. 2017)
  //   exponential           lr · factor^((step − w) / decay_steps)
  //   cosine                from lr to learning_rate_min along half a cosine (Loshchilov 2017)
  // never below learning_rate_min once the warm-up is over; then halved for each setback.
  double rate(std::int64_t step) const;

  // plateau: tells it whether the last validation was the best so far.
  void validated(bool improved);
  // plateau: the rate has come down to learning_rate_min, where there is one.
  bool exhausted() const;

  struct State {
    std::int64_t rollbacks = 0;  // each has halved every rate (training/trainer.h)
    std::int64_t decreases = 0;
    std::int64_t validations_without_improvement = 0;
  };
  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  double decayed(std::int64_t step) const;

  TrainingOptions options_;
  State state_;
};

}  // namespace regard
