// An exponential moving average of the weights (Polyak and Juditsky 1992), which validation uses
// and checkpoints store in place of the weights:
//
//   θ̄ ← d θ̄ + (1 − d) θ      d = min(decay, (1 + n) / (10 + n)) at update n
//
// The smaller d of the first updates keeps the random first weights out of the average.
#pragma once

#include <cstdint>

#include "optim/parameter_buffer.h"

namespace regard {

class MovingAverage {
 public:
  // Starts from the current weights. Keeps a reference to their buffer.
  MovingAverage(double decay, const ParameterBuffer& weights);

  // To be called after update n, which counts from 1.
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
// destruction, also when an exception ends the scope. Does nothing without an average.
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
