// The log of a training run: the progress line, train.log, train.jsonl and, optionally, event files
// for TensorBoard. Every logging_every steps, an entry with means over the steps since the last
// entry is written to each.
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
  // Continues train.jsonl and the event files in the run folder `folder` after `resume_step`, or
  // starts new ones. `validates` is true if there is validation data. Throws EnvironmentError if a
  // file cannot be written, also later.
  TrainingLog(const TrainingOptions& options, const std::string& folder, bool validates,
              std::optional<std::int64_t> resume_step);

  // Must be called after each update. `seconds` is the duration of the update; `batches_in_epoch`
  // is the number of batches of its epoch.
  void add_step(const TrainingPosition& position, const StepResult& result, double learning_rate,
                double seconds, std::int64_t batches_in_epoch);

  // Writes an entry for the steps since the last one; does nothing if there are none. add_step()
  // calls it every logging_every steps. Must also be called at the end of the training.
  void write_entry(const TrainingPosition& position, std::int64_t batches_in_epoch);

  // Writes the scores of a validation for TensorBoard.
  void add_validation(std::int64_t step, const Scores& scores);

  // Returns the training time of all sessions, in seconds.
  double seconds() const { return seconds_; }
  void add_seconds(double seconds) { seconds_ += seconds; }

  // The sums since the last entry and the training time, for the checkpoint.
  Json state() const;
  void set_state(const Json& state);

 private:
  void report(const TrainingProgress& now);
  void warn_if_loss_rises(const TrainingProgress& now);
  TrainingProgress progress(const TrainingPosition& position, std::int64_t batches_in_epoch) const;

  TrainingOptions options_;
  bool validates_;
  JsonLinesWriter train_log_;  // train.jsonl
  std::optional<EventFile> events_;
  ProgressReporter reporter_;
  double seconds_ = 0;
  double seconds_this_session_ = 0;
  std::int64_t steps_this_session_ = 0;

  // Sums since the last entry.
  double nll_ = 0;
  double risk_ = 0;
  double interval_seconds_ = 0;
  std::int64_t sentences_ = 0;
  std::int64_t source_tokens_ = 0;
  std::int64_t target_tokens_ = 0;
  double gradient_norm_ = 0;  // of the last step
  double learning_rate_ = 0;

  // The lowest mean loss of an interval so far, for the warning about a loss that rises.
  double lowest_loss_ = 0;
  std::int64_t lowest_loss_step_ = 0;  // 0: no interval yet
  bool warned_of_rise_ = false;        // reset when is_rising_loss() is false again
};

// Returns true if a mean loss of `now` nats per token indicates divergence rather than fluctuation:
// it is more than twice as high as the lowest mean loss so far, and at least one nat higher.
bool is_rising_loss(double lowest, double now);

// Returns the options to change when a training diverges, to follow the word "Try" in a message.
std::string advice_against_divergence(const TrainingOptions& options);

}  // namespace regard
