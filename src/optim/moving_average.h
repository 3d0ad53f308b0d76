// An exponential moving average θ̄ of the weights θ (Polyak and Juditsky 1992). Validation uses it
// and checkpoints store it in place of the weights:
//
//   θ̄ ← d θ̄ + (1 − d) θ      d = min(decay, (1 + n) / (10 + n)) at update n
//
// `decay` is training.moving_average. d is smaller in the first updates, so that the average soon
// forgets the initial weights.
#pragma once

#include <cstdint>

#include "optim/parameter_buffer.h"

namespace regard {

class MovingAverage {
 public:
  // Starts from the current weights. Shares the storage of `weights`.
  MovingAverage(double decay, const ParameterBuffer& weights);

  // Updates the elements begin ≤ i < end of the flat buffer. Call this for all of them after the
  // n-th optimizer update, n = 1, 2, … Threads may update disjoint ranges at the same time.
  void update_range(std::int64_t n, std::int64_t begin, std::int64_t end);
  // Returns 1 − d.
  double weight_of_update(std::int64_t n) const;
  // Updates all elements, with `weight`, a float on the device of the weights, for 1 − d.
  void update_on_device(const torch::Tensor& weight);
  // Return the averages by name, and as one flat buffer with the layout of the weights.
  const NamedParameters& averages() const { return averages_.views(); }
  const torch::Tensor& flat() const { return averages_.flat(); }

 private:
  friend class AveragedWeights;

  double decay_;
  ParameterBuffer weights_;
  ParameterBuffer averages_;
};

// Swaps the model's weights with the averages while an object lives: the model computes with the
// averages, and `average` holds the weights. No other thread may use either when an object is
// created or destroyed. Does nothing if `average` is null.
class AveragedWeights {
 public:
  explicit AveragedWeights(MovingAverage* average);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  MovingAverage* average_;
  torch::Tensor scratch_;  // for swap_contents(); kept, so that the destructor allocates no memory
};

}  // namespace regard
