// The training loop: updates, validations and checkpoints, until there is a reason to stop.
//
// If the loss or the gradient is not finite, the update is skipped. After several consecutive
// skipped updates the loop throws, and the caller may roll back to the last checkpoint and halve
// all learning rates. A batch that does not fit into memory is processed in halves.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoint/run_folder.h"
#include "data/batch_sampler.h"
#include "optim/schedule.h"
#include "training/checkpoints.h"
#include "training/early_stopping.h"
#include "training/minimum_risk.h"
#include "training/process_group.h"
#include "training/resumable_state.h"
#include "training/setup.h"
#include "training/signals.h"
#include "training/train_step.h"
#include "training/training_log.h"
#include "training/validation.h"
#include "training/validation_record.h"

namespace regard {

constexpr std::int64_t max_skipped = 5;    // consecutive skipped updates before DivergedError
constexpr std::int64_t max_rollbacks = 3;  // rollbacks before training fails

struct StopReason {
  std::string message;  // for the log
  int signal = 0;       // SIGINT, SIGTERM or SIGHUP; 0 if the reason is not a signal
};

class Trainer {
 public:
  // `run` must be locked. `validator` may be null. All arguments must outlive this object. All
  // processes of the group must have the same setup, except that each has its own run folder, which
  // need not have the files of an earlier session; only rank 0 saves.
  Trainer(Setup& setup, RunFolder& run, Validator* validator, ProcessGroup& group);

  // Must be called on a new run whose model has the weights of another one. Before the first step,
  // saves and, if there is a validator, validates. Names `initial_model` in each checkpoint.
  void start_from(const std::string& initial_model) {
    checkpoints_.initial_model = initial_model;
    pending_validation_ = validator_ != nullptr;
  }

  // Trains until there is a reason to stop. Throws DivergedError after `max_skipped` consecutive
  // skipped updates, or if the weights to be saved are not finite. The message names the corpus
  // lines of the last batch. The last checkpoint is kept. Throws EnvironmentError if memory does
  // not suffice for a single pair, if a file cannot be written, or if the run folder was moved.
  StopReason run(const SignalCatcher& signals);

  // Counts that must survive a rollback, although the checkpoint has older values.
  struct Rollbacks {
    std::int64_t count = 0;    // rollbacks, each of which halved all learning rates
    std::int64_t skipped = 0;  // updates skipped during the training
  };
  // Must be called on the new Trainer that resumes from the checkpoint, with rollbacks() of the
  // Trainer that diverged. Restores the counts and halves all learning rates once more.
  void roll_back(const Rollbacks& before);
  Rollbacks rollbacks() const { return {schedule_.state().rollbacks, position_.skipped}; }

  // True if there is already a reason to stop.
  bool is_finished() const { return reason_to_stop().has_value(); }
  const TrainingPosition& position() const { return position_; }
  const EarlyStopping& early_stopping() const { return early_stopping_; }

 private:
  StopReason run_to_end(SharedSignals& signals);
  std::optional<StopReason> reason_to_stop() const;
  // Takes the next batches, trains on them and logs the step, or skips the update.
  void update(SharedSignals& signals);
  // Returns the batches of the update at position_, on the device; none at the end of the epoch.
  std::vector<Batch> batches_of_next_update();
  // Calls train_step(), which copies the next batches to a device while it computes. If memory runs
  // out, halves the batches and tries again.
  StepResult step(std::vector<Batch>& batches, double learning_rate,
                  const std::function<std::vector<double>()>& counts);
  // Counts an update whose loss or gradient is not finite. Throws after `max_skipped` in a row.
  void skip_update(const StepResult& result, double learning_rate);
  DivergedError diverged(const std::string& what) const;
  bool validation_is_due() const;
  // True if this process has trained for training.max_minutes, with these seconds that are not
  // logged yet.
  bool own_time_is_up(double more_seconds = 0) const;
  // Saves, validates, and saves again. If the run is interrupted during the validation, the resumed
  // run repeats the validation.
  void save_and_validate(SharedSignals& signals);
  void record(const Validation& validation);
  // Saves if SIGUSR1 or a signal to stop was received. Returns the reason if it was a signal to
  // stop.
  std::optional<StopReason> handle_signals(SharedSignals& signals);
  // Writes the last entry of the log if there is a reason to stop.
  void finish_log();
  // Throws DivergedError if a weight is not finite.
  void save();
  ResumableState state();

  Setup& setup_;
  const Options& options_;
  RunFolder& run_;
  Validator* validator_;  // null if there is no validation data
  ProcessGroup& group_;
  TrainedModel trained_;
  std::optional<StepGraphs> graphs_;         // set if the steps can be captured
  std::optional<MinimumRisk> minimum_risk_;  // set if it is the objective
  BatchSampler batches_;
  Schedule schedule_;
  EarlyStopping early_stopping_;
  TrainingPosition position_;
  std::vector<Batch> ahead_;  // of the next update, if it is on a device and in this epoch
  std::vector<std::int64_t> last_pairs_;  // corpus indices of the pairs in the last update
  TrainingLog log_;
  std::optional<ValidationRecord> validations_;  // set if validator_ is not null
  Checkpoints checkpoints_;
  bool pending_validation_ = false;
  bool time_is_up_ = false;                     // the same in all processes
  std::optional<std::int64_t> validated_step_;  // of the last validation
};

}  // namespace regard
