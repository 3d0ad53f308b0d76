// The position of a training run in its data, and its counters. Checkpoints store it. Also where
// the run ends at the latest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "config/training_options.h"

namespace regard {

// `batch` is the index in epoch `epoch` of the next batch to train on; both count from 0.
struct TrainingPosition {
  std::int64_t step = 0;  // updates made
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  double mean_log_p = 0;     // per token, a moving average over the steps; 0 before the first
  std::int64_t skipped = 0;  // updates skipped because loss or gradient was not finite
  std::int64_t skipped_in_a_row = 0;

  void begin_epoch() {
    ++epoch;
    batch = 0;
  }
  // Adds the mean of a step with weight 0.1: the average reaches back about ten steps.
  void update_mean_log_p(double log_p) {
    mean_log_p = mean_log_p == 0 ? log_p : 0.9 * mean_log_p + 0.1 * log_p;
  }
  // Returns the number of the epoch for messages, counted from 1. Between two epochs, returns the
  // one that has ended.
  std::int64_t current_epoch() const { return batch > 0 || epoch == 0 ? epoch + 1 : epoch; }
};

inline std::int64_t updates_in_epoch(const TrainingOptions& options,
                                     std::int64_t batches_in_epoch) {
  const auto accumulated = options.gradient_accumulation;
  return std::max<std::int64_t>(1, (batches_in_epoch + accumulated - 1) / accumulated);
}

// Returns the step at which max_steps or epochs ends the run; nullopt if neither does.
inline std::optional<std::int64_t> last_step(const TrainingOptions& options,
                                             std::int64_t batches_in_epoch) {
  if (options.epochs == 0) {
    return options.max_steps > 0 ? std::optional(options.max_steps) : std::nullopt;
  }
  const auto end = options.epochs * updates_in_epoch(options, batches_in_epoch);
  return options.max_steps > 0 ? std::min(end, options.max_steps) : end;
}

}  // namespace regard
