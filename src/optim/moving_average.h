// An exponential moving average of the weights (Polyak and Juditsky 1992), validated and kept in
// their stead:  θ̄ = d θ̄ + (1 − d) θ,  with d = min(decay, (1 + n) / (10 + n)) at update n, so that
// the first values are soon forgotten.
#pragma once

#include <cstdint>
#include <vector>

#include "optim/optimizer.h"

namespace regard {

class MovingAverage {
 public:
  MovingAverage(double decay, const NamedParameters& parameters);

  // After update n, counted from 1.
  void update(std::int64_t n, Workers& workers);
  const NamedParameters& averages() const { return averages_; }

 private:
  friend class AveragedWeights;
  // Exchanges weights and averages; `scratch` holds the largest tensor.
  void swap(const torch::Tensor& scratch);

  double decay_;
  NamedParameters parameters_;
  NamedParameters averages_;
  Tensors weights_;  // the same tensors, without names
  Tensors smoothed_;
  Pieces pieces_;
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
