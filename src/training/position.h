// The position of a training run in its data, and its counters. Checkpoints store it.
#pragma once

#include <cstdint>

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

}  // namespace regard
