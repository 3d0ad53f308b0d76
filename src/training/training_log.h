// What a training says of its steps: the progress line, train.log, train.jsonl and, where wanted,
// TensorBoard's event files, each with the means since the last line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "config/training_options.h"
#include "report/event_file.h"
#include "report/journal.h"
#include "report/progress.h"
#include "training/scores.h"
#include "training/train_step.h"

namespace regard {

// Where the training stands: the next batch is batch `batch` of epoch `epoch`, both from 0.
struct Position {
  std::int64_t step = 0;  // updates made
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  double mean_log_p = 0;     // of a token, a moving average over the steps; 0 before the first
  std::int64_t skipped = 0;  // updates not made, as loss or gradient was not finite
  std::int64_t skipped_in_a_row = 0;

  void begin_epoch() {
    ++epoch;
    batch = 0;
  }
  void learnt(double log_p) {
    mean_log_p = mean_log_p == 0 ? log_p : 0.9 * mean_log_p + 0.1 * log_p;
  }
  // The epoch as people count, from 1; at the end of an epoch still that one.
  std::int64_t current_epoch() const { return batch > 0 || epoch == 0 ? epoch + 1 : epoch; }
};

class TrainingLog {
 public:
  // Continues the run's train.jsonl and event files after `resume_step`, or starts new ones.
  // Whether there are validations to wait for, it `validates`.
  TrainingLog(const TrainingOptions& options, const std::string& folder, bool validates,
              std::optional<std::int64_t> resume_step);

  // Of a training that goes on after this step: drops the line that finish() wrote of the steps
  // whose sums are still open.
  void go_on_after(std::int64_t step);

  // After every update. `seconds` is the time that it took.
  void step(const Position& position, const StepResult& result, double learning_rate,
            double seconds, std::int64_t batches_in_epoch);

  // The line that is due at the end of a training: of the steps since the last one.
  void finish(const Position& position, std::int64_t batches_in_epoch);

  // What a validation found, for TensorBoard.
  void validated(std::int64_t step, const Scores& scores);

  // Training time so far, all sittings together.
  double seconds() const { return seconds_; }
  void add_seconds(double seconds) { seconds_ += seconds; }

  // For the checkpoint: the sums since the last line, and the time.
  Json state() const;
  void set_state(const Json& state);

 private:
  void report(const TrainingProgress& now);
  void warn_if_loss_rises(const TrainingProgress& now);
  TrainingProgress progress(const Position& position, std::int64_t batches_in_epoch) const;

  TrainingOptions options_;
  std::string folder_;
  bool validates_;
  std::optional<Journal> journal_;
  std::optional<EventFile> events_;
  ProgressReporter reporter_;
  double seconds_ = 0;
  double seconds_this_sitting_ = 0;
  std::int64_t steps_this_sitting_ = 0;

  // Sums since the last line.
  double nll_ = 0;
  double interval_seconds_ = 0;
  std::int64_t source_tokens_ = 0;
  std::int64_t target_tokens_ = 0;
  double gradient_norm_ = 0;  // of the last step
  double learning_rate_ = 0;

  // The lowest mean loss of an interval so far, for the warning about a loss that rises.
  double lowest_loss_ = 0;
  std::int64_t lowest_loss_step_ = 0;  // 0: no interval yet
  bool warned_of_rise_ = false;        // until the loss is near the lowest again
};

// True if a mean loss of `now` nats per token, after `lowest`, means that the training is diverging
// rather than fluctuating: more than twice as high, and at least one nat higher.
bool is_rising_loss(double lowest, double now);

// The options to change when a training diverges, as the object of "Try".
std::string advice_against_divergence(const TrainingOptions& options);

}  // namespace regard
