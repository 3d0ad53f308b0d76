// One model on one batch, with the floor beside it: what the benchmarks of training time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "config/model_options.h"
#include "config/training_options.h"
#include "data/batch.h"
#include "model/seq2seq.h"
#include "tests/bench/floor.h"
#include "training/train_step.h"

namespace regard {

// The bench model, configs/bench.yaml.
ModelOptions bench_model();

// Seconds by name, in the order of their first mention; one each round.
class Timings {
 public:
  void add(const std::string& name, double seconds);
  const std::vector<double>& of(const std::string& name) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<double>> values_;
};

// Returns the precisions in which this processor trains: fp32, and bf16 if it has it.
std::vector<TrainingPrecision> measured_precisions();

class TrainingCase {
 public:
  // Every sentence has S and T tokens: no padding. `workers` must outlive this.
  TrainingCase(const ModelOptions& options, const BatchShape& shape, ThreadPool& workers,
               TrainingPrecision precision = TrainingPrecision::fp32);

  // All in seconds a batch. The floor with all cores busy, one thread in each product.
  double floor();
  // One update as in training.
  double step();
  // The same from the composites; and so with one worker, all threads in each operation.
  double plain_step();
  double plain_step_all_threads();
  // As one would write it first: the decoder called token by token, nothing taken out of its loop,
  // from the composites, all threads in each operation.
  double plain_loop();
  // The parts of one worker's step and of the products in it, worker 0 alone on its share, as
  // "NAME" and "floor: NAME"; then the update, by all workers, and the making of the batch.
  void time_parts(Timings& timings);

  std::int64_t target_tokens() const { return batch_.target_tokens; }
  double operations() const { return floors_[0].operations(); }
  const Floor& whole_floor() const { return floors_[0]; }
  static const std::vector<std::string>& part_names();

 private:
  double timed_step(ThreadPool& workers);
  // Norm, clipping and optimizer, as in train_step().
  void update(double target_tokens, ThreadPool& workers);
  void time_model(Timings& timings);
  void time_floor(Timings& timings);

  ThreadPool& pool_;
  ThreadPool alone_;
  ProcessGroup group_;  // this process alone
  TrainingOptions training_;
  std::vector<Example> examples_;
  Batch batch_;
  std::shared_ptr<Seq2Seq> model_;
  std::optional<TrainedModel> trained_;
  std::vector<Floor> floors_;  // one a worker, of the whole batch
  Floor share_floor_;          // of worker 0's share
  std::int64_t steps_ = 0;
};

// One model of any architecture on one batch, and the floor of the products that its step makes.
class ArchitectureCase {
 public:
  // As TrainingCase.
  ArchitectureCase(const ModelOptions& options, const BatchShape& shape, ThreadPool& workers,
                   TrainingPrecision precision);

  // In seconds a batch, all cores busy.
  double floor();
  double step();

  std::int64_t target_tokens() const { return batch_.target_tokens; }
  std::int64_t parameters() const;

 private:
  ThreadPool& pool_;
  ProcessGroup group_;  // this process alone
  TrainingOptions training_;
  Batch batch_;
  std::shared_ptr<Seq2Seq> model_;
  std::optional<TrainedModel> trained_;
  std::vector<Floor> floors_;  // one for each thread, of its share
  std::int64_t steps_ = 0;
};

}  // namespace regard
