// The training loop: updates, validations, checkpoints, until there is a reason to stop.
//
// An update whose loss or gradient is not finite is not made: its batch is skipped. Several in a
// row end the loop, and whoever runs it may go back to the last checkpoint with all learning rates
// halved (a setback). A batch that the memory does not hold is learnt in halves.
#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/workers.h"
#include "checkpoint/run_folder.h"
#include "config/options.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "model/seq2seq.h"
#include "optim/moving_average.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "training/early_stopping.h"
#include "training/resumable_state.h"
#include "training/signals.h"
#include "training/training_log.h"
#include "training/validation.h"
#include "training/validation_record.h"

namespace regard {

// Updates in a row that may fail, and how often a run may go back for it.
constexpr std::int64_t most_skipped = 5;
constexpr std::int64_t most_setbacks = 3;

struct StopReason {
  std::string sentence;
  int signal = 0;  // SIGINT, SIGTERM or SIGHUP, where one of them was it
};

class Trainer {
 public:
  // The run folder is locked. The model is on the device, with the weights to begin from; where
  // `resume_from` is given, those of this checkpoint.
  Trainer(const Options& options, RunFolder& run, const Corpus& corpus,
          std::shared_ptr<Seq2Seq> model, Validator* validator, torch::Device device,
          Workers& workers, const FolderReader* resume_from);

  // Throws DivergedError where the training has come to no finite number, after `most_skipped`
  // updates in a row, whose lines it names, or weights that would have been saved; the last
  // checkpoint stands.
  StopReason run(const SignalCatcher& signals);

  // After going back: halves all rates once more than `before` had, and keeps its count of skipped
  // updates.
  struct Setbacks {
    std::int64_t count = 0;
    std::int64_t skipped = 0;
  };
  void set_back(const Setbacks& before);
  Setbacks setbacks() const { return {schedule_.state().setbacks, position_.skipped}; }

  // There is no step left to make.
  bool is_finished() const { return reason_to_stop().has_value(); }
  const Position& position() const { return position_; }
  const EarlyStopping& early_stopping() const { return early_stopping_; }

 private:
  std::optional<StopReason> reason_to_stop() const;
  void update();
  StepResult step(std::vector<Batch>& batches, double learning_rate);
  void skip(const StepResult& result, double learning_rate);
  DivergedError diverged(const std::string& what) const;
  bool validation_is_due() const;
  bool save_is_due() const;
  // Saves, so that a run that ends meanwhile repeats the validation; validates; saves again. False
  // if a signal ended the validation.
  bool save_and_validate(PendingValidation kind, const SignalCatcher& signals);
  void record(const Validation& validation, bool closing);
  // Saves for a SIGUSR1, and for a signal that asks to stop, which it returns as a reason.
  std::optional<StopReason> answer(const SignalCatcher& signals);
  void answer_save(const SignalCatcher& signals);
  void take_up_history();
  void forget_closing_validation();
  void drop_passed_end();
  void save();
  void write_checkpoint();
  void link_best();
  ResumableState state();

  Options options_;
  RunFolder& run_;
  const Corpus& corpus_;
  std::shared_ptr<Seq2Seq> model_;
  Validator* validator_;  // or none
  torch::Device device_;
  Workers& workers_;
  NamedParameters parameters_;
  Tensors tensors_;  // the same without their names
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<MovingAverage> average_;
  Batches batches_;
  Schedule schedule_;
  EarlyStopping early_stopping_;
  Position position_;
  std::vector<std::int64_t> last_pairs_;  // of the last update
  TrainingLog log_;
  std::optional<ValidationRecord> validations_;
  PendingValidation pending_validation_ = PendingValidation::none;
  std::int64_t validated_step_ = -1;
  std::int64_t saved_step_ = -1;
  std::int64_t written_step_ = -1;  // of the last checkpoint that this object wrote
  // Where the run had ended before it went on, until the next checkpoint; 0: nowhere.
  std::int64_t passed_end_ = 0;
};

}  // namespace regard
