// One update: forward and backward by all workers, clipping, optimizer.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "base/workers.h"
#include "config/training_options.h"
#include "data/batch.h"
#include "model/seq2seq.h"
#include "optim/optimizer.h"

namespace regard {

struct StepResult {
  double nll = 0;  // −log P, a sum over target tokens
  double gradient_norm = 0;
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;
};

// What changes from step to step.
struct StepSettings {
  std::int64_t step = 1;  // counts from 1 and, with the seed, decides dropout
  double learning_rate = 0;
  double mean_log_p = 0;  // loss/reinforce.h
};

// The gradient is that of the loss summed over all batches, divided by their target tokens; each
// worker reads a share of each batch. The model must be in training mode. Where loss or gradient is
// not finite, nothing is updated: see the result.
StepResult train_step(Seq2Seq& model, Optimizer& optimizer, const Tensors& parameters,
                      const std::vector<Batch>& batches, const StepSettings& now,
                      const TrainingOptions& options, Workers& workers);

}  // namespace regard
