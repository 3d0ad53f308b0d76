// The learning rate of each update, as a function of its number and, for plateau, of the
// validations so far. decrease_factor, warmup_steps, … are keys of `training`.
#pragma once

#include <cstdint>

#include "config/training_options.h"

namespace regard {

class Schedule {
 public:
  explicit Schedule(const TrainingOptions& options);

  // Returns the learning rate of update `step`, counted from 1. With lr = learning_rate, factor =
  // decrease_factor and w = warmup_steps, it is
  //   constant              lr
  //   plateau               lr · factor^n after n decreases
  //   inverse_square_root   lr · √(w / max(step, w)), w at least 1 (Vaswani et al. 2017)
  //   exponential           lr · factor^((step − w) / decay_steps)
  //   cosine                from lr at step w to learning_rate_min at step decay_steps, along half
  //                         a cosine (Loshchilov and Hutter 2017)
  // A rate below learning_rate_min is raised to it. The result is halved for each rollback, and
  // multiplied by step / w during the warm-up (step < w). decay_steps = 0 means 1000 for
  // exponential, and max_steps for cosine.
  double rate(std::int64_t step) const;

  // Must be called after each validation. `improved` is true if it was the best so far. With
  // plateau, more than decrease_patience validations in a row without improvement decrease the
  // rate. Other kinds ignore it.
  void validated(bool improved);
  // True if the rate of plateau has decreased to learning_rate_min, which is above 0: training then
  // stops. Always false for other kinds.
  bool exhausted() const;

  // The part that changes during training, for checkpoints.
  struct State {
    std::int64_t rollbacks = 0;  // counted by the trainer (training/trainer.h)
    std::int64_t decreases = 0;  // plateau
    std::int64_t validations_without_improvement = 0;  // plateau; since the last decrease
  };
  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  // Returns the rate without warm-up, minimum and rollbacks.
  double decayed(std::int64_t step) const;

  TrainingOptions options_;
  State state_;
};

}  // namespace regard
