// An exponential moving average of the weights (Polyak and Juditsky 1992). Validation uses it and
// checkpoints store it in place of the weights:
//
//   θ̄ ← d θ̄ + (1 − d) θ      d = min(decay, (1 + n) / (10 + n)) at update n
//
// d is smaller in the first updates, so that the average soon forgets the initial weights.
#pragma once

#include <cstdint>

#include "optim/parameter_buffer.h"

namespace regard {

class MovingAverage {
 public:
  // Starts from the current weights. Shares the storage of `weights`.
  MovingAverage(double decay, const ParameterBuffer& weights);

  // Call this after the n-th optimizer update, n = 1, 2, …
  void update(std::int64_t n, ThreadPool& pool);
  const NamedParameters& averages() const { return averages_.views(); }
  const torch::Tensor& flat() const { return averages_.flat(); }

 private:
  friend class AveragedWeights;

  double decay_;
  ParameterBuffer weights_;
  ParameterBuffer averages_;
};

// Puts the averages in place of the model's weights for its lifetime. Restores the weights on
// destruction, also when an exception ends the scope. Does nothing if `average` is null.
class AveragedWeights {
 public:
  explicit AveragedWeights(MovingAverage* average);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  MovingAverage* average_;
  torch::Tensor scratch_;  // allocated here, so that the destructor needs no memory
};

}  // namespace regard
