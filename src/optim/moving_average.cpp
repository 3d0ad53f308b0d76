#include "optim/moving_average.h"

#include <torch/utils.h>

#include <algorithm>

namespace regard {

MovingAverage::MovingAverage(double decay, const ParameterBuffer& weights)
    : decay_(decay), weights_(weights), averages_(weights.zeros_like()) {
  const torch::NoGradGuard guard;
  averages_.flat().copy_(weights_.flat());
}

double MovingAverage::weight_of_update(std::int64_t n) const {
  const auto count = static_cast<double>(n);
  return 1 - std::min(decay_, (1 + count) / (10 + count));
}

void MovingAverage::update_range(std::int64_t n, std::int64_t begin, std::int64_t end) {
  const torch::NoGradGuard guard;
  flat().slice(0, begin, end).lerp_(weights_.flat().slice(0, begin, end), weight_of_update(n));
}

void MovingAverage::update_on_device(const torch::Tensor& weight) {
  const torch::NoGradGuard guard;
  flat().lerp_(weights_.flat(), weight.to(flat().scalar_type()));
}

AveragedWeights::AveragedWeights(MovingAverage* average) : average_(average) {
  if (average_ == nullptr) return;
  scratch_ = swap_scratch(average_->flat());
  swap_contents(average_->weights_.flat(), average_->flat(), scratch_);
}

AveragedWeights::~AveragedWeights() {
  if (average_ != nullptr) swap_contents(average_->weights_.flat(), average_->flat(), scratch_);
}

}  // namespace regard
