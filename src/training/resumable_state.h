// What a training that goes on needs besides the model: a file of numbers and a file of tensors in
// the checkpoint.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "base/json.h"
#include "checkpoint/folder.h"
#include "optim/moving_average.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "training/early_stopping.h"
#include "training/training_log.h"

namespace regard {

// The validation that a checkpoint was saved before, and that a resumed run makes first: one that
// was due at this step, or the one that closes a run.
enum class PendingValidation { none, due, closing };

// The parts, which belong to the trainer.
struct ResumableState {
  Position& position;
  PendingValidation& pending_validation;
  Schedule& schedule;
  EarlyStopping& early_stopping;
  TrainingLog& log;
  Optimizer& optimizer;
  // With a moving average the model's own file holds the averages; the weights are here.
  MovingAverage* average;
  const NamedParameters& parameters;
  torch::Device device;
};

void add_state(FolderWriter& folder, const ResumableState& state);
// The file of numbers alone, for a checkpoint whose tensors were saved at the same step.
void add_numbers(FolderWriter& folder, const ResumableState& state);
// Brings everything back, Torch's random generators last of all. CheckpointError where something
// is missing or does not fit.
void read_state(const FolderReader& folder, ResumableState state);

// DamagedError where a file of the state is damaged.
void verify_state(const FolderReader& folder);

// Only the step, before there is a trainer.
std::int64_t saved_step(const FolderReader& folder);

}  // namespace regard
