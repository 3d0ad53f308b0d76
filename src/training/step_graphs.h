// Training steps as graphs of a device. A GPU computes a step of a small model in a fraction of the
// time in which the processor launches its operations. So forward pass, backward pass and update
// are captured once for each shape of a batch, and repeated by one launch.
//
// Batches are padded to few shapes (Batch::padded()), within the positions of the model. A graph
// repeats the operations of an eager step with a padded batch, and produces the same bytes.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/random.h"
#include "config/options.h"
#include "data/batch.h"
#include "kernels/device_graph.h"
#include "model/seq2seq.h"

namespace regard {

class StepGraphs {
 public:
  // True if a step on `device` can be captured: not a CPU, one batch per update, likelihood
  // objective, no R-Drop, and no random numbers drawn on the CPU (hard and monotonic attention).
  static bool can_capture(torch::Device device, const Options& options);

  // With training.graphs: off, batches are padded too.
  StepGraphs(torch::Device device, const TrainingOptions& options, const Seq2Seq& model);

  // Returns the batch on the device: padded, unless a step is so large that the processor is faster
  // than the device. Does not wait for the device. May overwrite an earlier batch of the same
  // shape, whose step must have been launched.
  Batch to_device(const Batch& batch);

  // Computes a step for a padded batch and `numbers` [K] on the device; returns a tensor on the
  // device. `keys` are the first draws of `random` on the device if the step is captured
  // (model/random_stream.h), or undefined.
  using Compute = std::function<torch::Tensor(const Batch& batch, const torch::Tensor& numbers,
                                              const torch::Tensor& keys)>;
  // Returns the result of `compute` for a batch, `numbers`, such as the learning rate, and
  // `random`, from which the step draws its dropout masks. `compute` must do the same for each
  // batch of the same shape. The first batch of a shape is computed operation by operation; the
  // second is captured. If that fails, logs it once, and computes all batches operation by
  // operation from then on. `batch` comes from to_device() and is padded; K is the same in every
  // call; the next run() may overwrite the result. Not thread-safe.
  torch::Tensor run(const Batch& batch, const std::vector<double>& numbers, Random random,
                    const Compute& compute);

  // Releases all graphs and their memory and makes no more. Returns false if there was none.
  bool release();

 private:
  struct Step {
    bool was_computed = false;
    Batch inputs;
    torch::Tensor result;
    std::unique_ptr<DeviceGraph> graph;
    std::int64_t last_use = 0;
  };
  using Shape = std::vector<std::int64_t>;
  static Shape shape_of(const Batch& batch);
  bool is_small(const Batch& batch) const;
  // Copies keys and numbers to the device.
  void set_inputs(const std::vector<double>& numbers, Random& random);
  // Captures the step of the shape of `batch`.
  void capture_step(Step& step, const Batch& batch, const Compute& compute);
  void release_oldest();

  torch::Device device_;
  GraphCapture capture_;
  bool is_enabled_;
  std::int64_t parameters_ = 0;  // number of weights
  std::int64_t max_source_, max_target_;
  // One block of bytes on the device holds the inputs that differ between steps; the others are its
  // parts.
  torch::Tensor block_;
  torch::Tensor keys_;     // [max_keys] int64
  torch::Tensor numbers_;  // [K] float
  std::map<Shape, Step> steps_;
  std::int64_t uses_ = 0;
  std::int64_t captured_ = 0;  // graphs in steps_
};

}  // namespace regard
