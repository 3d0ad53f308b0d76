// Which validation was the best so far, and whether it is long enough ago to stop.
#pragma once

#include <cstdint>

#include "config/training_options.h"
#include "training/scores.h"

namespace regard {

class EarlyStopping {
 public:
  explicit EarlyStopping(const TrainingOptions& options) : options_(options) {}

  // Returns whether this validation is the best so far by early_stopping_metric (scores.h). One
  // that closes a run between two that are due may be the best, but says nothing of patience.
  bool validated(std::int64_t step, const Scores& scores, bool closing = false);
  // `patience` validations have gone by without a better one.
  bool out_of_patience() const;
  std::int64_t best_step() const { return best_step_; }  // 0: none yet

  const ScoredSteps& history() const { return history_; }
  // Without a closing one.
  ScoredSteps due_history() const;
  // The last validation, where it was a closing one; 0: it was not.
  std::int64_t closing_step() const { return closing_step_; }
  // Judges these anew, by the metric of these options: it may have changed since. The last may be a
  // closing one.
  void set_history(const ScoredSteps& history, std::int64_t closing_step = 0);
  // For a run that goes on, which does so without the validation that closed it.
  void forget_closing() { set_history(due_history()); }

 private:
  TrainingOptions options_;
  ScoredSteps history_;
  Scores best_;
  std::int64_t best_step_ = 0;
  std::int64_t closing_step_ = 0;
  std::int64_t validations_without_improvement_ = 0;
};

}  // namespace regard
