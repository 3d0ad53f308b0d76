// The log of a training run: the progress line, train.log, train.jsonl and, optionally, event files
// for TensorBoard. Each entry has means over the steps since the last entry.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "config/training_options.h"
#include "report/event_file.h"
#include "report/progress.h"
#include "report/run_logs.h"
#include "training/early_stopping.h"
#include "training/position.h"
#include "training/train_step.h"

namespace regard {

class TrainingLog {
 public:
  // Continues the run's train.jsonl and event files after `resume_step`, or starts new ones.
  // `validates` is true if there is validation data.
  TrainingLog(const TrainingOptions& options, const std::string& folder, bool validates,
              std::optional<std::int64_t> resume_step);

  // Must be called after each update. `seconds` is the duration of the update.
  void add_step(const TrainingPosition& position, const StepResult& result, double learning_rate,
                double seconds, std::int64_t batches_in_epoch);

  // Logs the steps since the last line. Must be called at the end of the training.
  void finish(const TrainingPosition& position, std::int64_t batches_in_epoch);

  // Writes the scores of a validation for TensorBoard.
  void add_validation(std::int64_t step, const Scores& scores);

  // Returns the training time of all sessions.
  double seconds() const { return seconds_; }
  void add_seconds(double seconds) { seconds_ += seconds; }

  // The sums since the last line and the training time, for the checkpoint.
  Json state() const;
  void set_state(const Json& state);

 private:
  void report(const TrainingProgress& now);
  void warn_if_loss_rises(const TrainingProgress& now);
  TrainingProgress progress(const TrainingPosition& position, std::int64_t batches_in_epoch) const;

  TrainingOptions options_;
  std::string folder_;
  bool validates_;
  std::optional<JsonLinesWriter> train_log_;
  std::optional<EventFile> events_;
  ProgressReporter reporter_;
  double seconds_ = 0;
  double seconds_this_session_ = 0;
  std::int64_t steps_this_session_ = 0;

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
  bool warned_of_rise_ = false;        // reset when the loss is near the lowest again
};

// Returns true if a mean loss of `now` nats per token indicates divergence rather than fluctuation:
// it is more than twice as high as the lowest mean loss so far, and at least one nat higher.
bool is_rising_loss(double lowest, double now);

// Returns the options to change when a training diverges, as the object of "Try".
std::string advice_against_divergence(const TrainingOptions& options);

}  // namespace regard
