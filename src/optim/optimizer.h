// The update rules: SGD with momentum, Adadelta (Zeiler 2012), Adam (Kingma and Ba 2015), AdamW
// (Loshchilov and Hutter 2019). Weights, gradient and moments are flat buffers of one layout
// (parameter_buffer.h). With weight decay λ, AdamW subtracts learning_rate · λ θ from the weights
// θ; the other rules add λ θ to the gradient.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "config/training_options.h"
#include "optim/parameter_buffer.h"

namespace regard {

// Returns the factor of the learning rate of each parameter: the product of the factors of
// training.learning_rates whose patterns match its name, or 0 if training.freeze matches. Throws
// ConfigError, with the modules of the model, if a pattern matches no name, or if all factors are
// 0.
std::vector<double> learning_rate_factors(const TrainingOptions& options,
                                          const NamedParameters& parameters);

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Sets the factors of the learning rate, one for each parameter of the buffer. A factor of 0
  // leaves parameters and moments as they are, and the parameter does not count the update.
  void set_rate_factors(const std::vector<double>& factors);
  // Multiplies `gradient`, a flat buffer, by `factor` in place and updates the weights with it.
  // The threads of `pool` process ranges of the buffers in parallel, and call after_range(begin,
  // end), without autograd, for each range of elements while it is in their caches. The ranges are
  // disjoint and cover the buffer.
  void update(const torch::Tensor& gradient, double factor, double learning_rate, ThreadPool& pool,
              const std::function<void(std::int64_t, std::int64_t)>& after_range = {});

  // The numbers of an update that a graph of a device repeats (kernels/device_graph.h), each a
  // float of one element on the device of the weights.
  struct OnDevice {
    torch::Tensor rate;     // the learning rate
    torch::Tensor divisor;  // of the gradient
    torch::Tensor skip;     // 1: the update changes nothing; else 0
  };
  virtual bool has_update_on_device() const { return false; }
  // As update(), with these numbers and without waiting for the device. The caller must call
  // count_update() once for each update that was not skipped.
  void update_on_device(const torch::Tensor& gradient, const OnDevice& numbers);
  void count_update();

  // Returns the moments and counters, named "exp_avg.encoder.layer0.W", …, for checkpoints. They
  // are the tensors themselves, not copies: writing to them sets the state.
  const NamedParameters& state() const { return state_; }

 protected:
  // Shares the storage of `weights`.
  explicit Optimizer(const ParameterBuffer& weights);
  // Returns a flat buffer of zeros with the layout of the weights. Adds its part for each parameter
  // to the state, as "name.parameter".
  torch::Tensor add_moment(const std::string& name);
  // Returns a scalar tensor, 0, and adds it to the state.
  torch::Tensor add_counter(const std::string& name);
  // Adds the number of updates of each parameter while it was frozen to the state.
  void add_frozen_updates() { state_.emplace_back("frozen_updates", frozen_updates_); }

  // Consecutive elements that are updated alike.
  struct Range {
    std::int64_t begin;
    std::int64_t end;
    bool is_frozen;
    double learning_rate;
    double frozen_updates;  // earlier updates in which these elements were frozen
    // Null, or the numbers of the update; learning_rate is then the factor of theirs.
    const OnDevice* numbers = nullptr;
  };
  // Called once per update, before update_range(). `numbers`: as in Range.
  virtual void begin_update(const OnDevice* /*numbers*/) {}
  // Updates a range of the weights. theta and g are these elements of the weights and of the
  // gradient; both may be overwritten. Several threads call this for disjoint ranges.
  virtual void update_range(const Range& range, torch::Tensor theta, torch::Tensor g) = 0;

 private:
  // Returns ranges that cover the buffer, in ascending order.
  std::vector<Range> ranges(double learning_rate) const;

  ParameterBuffer weights_;
  NamedParameters state_;
  std::vector<double> rate_factors_;  // one for each parameter
  torch::Tensor frozen_updates_;      // [parameters] double, on the CPU
};

// Creates the update rule options.optimizer for `weights`, with all state 0.
std::unique_ptr<Optimizer> make_optimizer(const TrainingOptions& options,
                                          const ParameterBuffer& weights);

}  // namespace regard
