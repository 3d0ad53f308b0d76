// The state that a resumed training needs besides the model: training.json (numbers) and
// training.safetensors in the checkpoint.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "base/json.h"
#include "checkpoint/folder.h"
#include "optim/moving_average.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "training/early_stopping.h"
#include "training/position.h"
#include "training/training_log.h"

namespace regard {

// References to the parts of the state. The trainer owns them.
struct ResumableState {
  TrainingPosition& position;
  bool& pending_validation;  // a validation is due at this step and has not been completed
  Schedule& schedule;
  EarlyStopping& early_stopping;
  TrainingLog& log;
  Optimizer& optimizer;
  // Null without a moving average. Otherwise model.safetensors has the averages, and this state has
  // the weights.
  MovingAverage* average;
  const NamedParameters& parameters;
  torch::Device device;
};

// Adds both files to a checkpoint.
void add_state(FolderWriter& folder, const ResumableState& state);
// Adds training.json only, to a checkpoint that was saved before a validation at the same step: its
// tensors have not changed.
void add_numbers(FolderWriter& folder, const ResumableState& state);
// Restores all parts of the trainer to which `state` refers, and LibTorch's random generators.
// Throws CheckpointError if a tensor or number is missing, or if a shape differs.
void read_state(const FolderReader& folder, ResumableState state);

// Throws DamagedError if a file of the state is damaged.
void verify_state(const FolderReader& folder);

// Returns the step of the checkpoint. Throws CheckpointError if training.json cannot be read.
std::int64_t saved_step(const FolderReader& folder);

}  // namespace regard
