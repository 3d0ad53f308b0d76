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
  // Exchanges weights and averages: once to validate or save, once more to go on.
  void swap();
  const NamedParameters& averages() const { return averages_; }

 private:
  double decay_;
  NamedParameters parameters_;
  NamedParameters averages_;
  Tensors weights_;  // the same tensors, without names
  Tensors smoothed_;
  Pieces pieces_;
};

}  // namespace regard
