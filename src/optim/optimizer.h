// The update rules: SGD with momentum, Adadelta (Zeiler 2012), Adam (Kingma and Ba 2015), AdamW
// (Loshchilov and Hutter 2019). Weights, gradient and state are flat buffers of one layout
// (parameter_buffer.h).
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>

#include "base/thread_pool.h"
#include "config/training_options.h"
#include "optim/parameter_buffer.h"

namespace regard {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Updates the weights by factor · gradient; `gradient` is overwritten by that product. Ranges of
  // the buffers are updated in parallel.
  void update(const torch::Tensor& gradient, double factor, double learning_rate, ThreadPool& pool);

  // Moments and counters, named "exp_avg.encoder.layer0.W", …: the tensors themselves, not copies.
  const NamedParameters& state() const { return state_; }

 protected:
  // Keeps a reference to the buffer of the weights, not to `weights` itself.
  explicit Optimizer(const ParameterBuffer& weights);
  // Returns a flat buffer of zeros beside the weights. Its parts are added to the state as
  // "name.parameter".
  torch::Tensor add_moment(const std::string& name);
  // Returns a scalar 0 that is added to the state.
  torch::Tensor add_counter(const std::string& name);

  // Called once before the ranges of an update.
  virtual void begin_update() {}
  // Updates the elements [begin, end): theta and g are those of weights and gradient. Several
  // threads call this for disjoint ranges.
  virtual void update_range(std::int64_t begin, std::int64_t end, torch::Tensor theta,
                            torch::Tensor g, double learning_rate) = 0;

 private:
  ParameterBuffer weights_;
  NamedParameters state_;
};

std::unique_ptr<Optimizer> make_optimizer(const TrainingOptions& options,
                                          const ParameterBuffer& weights);

}  // namespace regard
