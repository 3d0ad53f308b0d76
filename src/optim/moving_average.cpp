#include "optim/moving_average.h"

#include <algorithm>

namespace regard {

MovingAverage::MovingAverage(double decay, const NamedParameters& parameters)
    : decay_(decay), parameters_(parameters) {
  for (const auto& [name, tensor] : parameters_) {
    averages_.emplace_back(name, tensor.detach().clone());
  }
}

void MovingAverage::update(std::int64_t n) {
  const torch::NoGradGuard guard;
  const auto count = static_cast<double>(n);
  const auto d = std::min(decay_, (1 + count) / (10 + count));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    averages_[i].second.lerp_(parameters_[i].second, 1 - d);
  }
}

void MovingAverage::swap() {
  const torch::NoGradGuard guard;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto weights = parameters_[i].second.clone();
    parameters_[i].second.copy_(averages_[i].second);
    averages_[i].second.copy_(weights);
  }
}

}  // namespace regard
