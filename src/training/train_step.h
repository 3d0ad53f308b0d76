// One training update:
//
//   samples of the model for each shard (only for training.objective: minimum_risk) →
//   forward and backward of each shard → sum of the gradients → check that it is finite →
//   clipping of the norm → optimizer → moving average
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread_pool.h"
#include "config/training_options.h"
#include "data/batch.h"
#include "kernels/packed_weights.h"
#include "model/seq2seq.h"
#include "optim/moving_average.h"
#include "optim/optimizer.h"
#include "optim/parameter_buffer.h"
#include "training/gradient_sum.h"
#include "training/minimum_risk.h"
#include "training/process_group.h"
#include "training/step_graphs.h"

namespace regard {

// Splits each batch with at least two sentences in half, so that an update needs less memory.
// Returns false if every batch has a single sentence.
bool halve_batches(std::vector<Batch>& batches);

// A model, its gradient, its optimizer and its moving average. Weights, gradient, optimizer moments
// and averages are flat buffers with the same layout.
struct TrainedModel {
  // The model must already be on the training device: its parameters become views of a flat buffer.
  TrainedModel(std::shared_ptr<Seq2Seq> model_to_train, const TrainingOptions& options);

  std::shared_ptr<Seq2Seq> model;
  ParameterBuffer weights;
  GradientSum gradient;
  std::unique_ptr<Optimizer> optimizer;
  std::optional<MovingAverage> average;
  // The precision of the matrix products of a training step and, on the CPU, the packed weights.
  // Null if LibTorch computes the products in full precision.
  std::unique_ptr<kernels::PackedWeights> packed_weights;
  // True while weights and averages are updated. Stays true if an exception interrupts the update:
  // some weights are then updated and others are not.
  bool is_updating = false;
};

// The arguments of an update that change from step to step.
struct StepSettings {
  std::int64_t step = 1;  // counts from 1; seeds dropout, together with training.random_seed
  double learning_rate = 0;
  double mean_log_p = 0;  // see batch_loss()
  // Returns numbers that are added up over all processes together with the loss. Called after the
  // backward pass; again if the step is repeated because memory ran out.
  std::function<std::vector<double>()> counts = {};
  // The objective; null: the likelihood (training_loss.h). Must live until train_step() returns.
  const MinimumRisk* minimum_risk = nullptr;
  // Computes the steps of padded batches; needed for them.
  StepGraphs* graphs = nullptr;
  torch::Tensor dropout_keys = {};  // of a captured step (model/random_stream.h)
};

struct StepResult {
  double nll = 0;            // −log P in nats, summed over all target tokens
  double risk = 0;           // the expected risk, summed over all sentences; 0 with the likelihood
  double gradient_norm = 0;  // before clipping
  std::int64_t sentences = 0;
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;
  std::vector<double> counts = {};  // the sums of StepSettings::counts
};

// Returns into how many shards a process divides each batch: training.shards, or one for each
// thread.
std::size_t shards_of(const TrainingOptions& options, const ThreadPool& pool, torch::Device device);

// Performs one update. The objective is the sum of the losses of all batches, divided by their
// number of target tokens. Each thread of the pool processes shards of each batch, one after
// another; the result depends on the number of shards, but not on that of threads. The model must
// be in training mode. Updates nothing if `nll` or `gradient_norm` of the result is not finite. The
// shards of all processes of the group make up each batch; all must pass the same batches. Batches
// can be on the CPU or on the device. A process that trains alone waits for its device once, and
// calls before_waiting() first; that of a padded batch may lack memory, which is ignored.
StepResult train_step(TrainedModel& trained, const std::vector<Batch>& batches,
                      const StepSettings& settings, const TrainingOptions& options,
                      ThreadPool& pool, ProcessGroup& group,
                      const std::function<void()>& before_waiting = {});

}  // namespace regard
