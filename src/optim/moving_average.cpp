#include "optim/moving_average.h"

#include <torch/utils.h>

#include <algorithm>

namespace regard {
namespace {

NamedParameters copies_of(const NamedParameters& parameters) {
  NamedParameters copies;
  for (const auto& [name, tensor] : parameters) copies.emplace_back(name, tensor.detach().clone());
  return copies;
}

}  // namespace

MovingAverage::MovingAverage(double decay, const NamedParameters& parameters)
    : decay_(decay),
      parameters_(parameters),
      averages_(copies_of(parameters)),
      weights_(tensors_of(parameters_)),
      smoothed_(tensors_of(averages_)),
      pieces_(weights_) {}

void MovingAverage::update(std::int64_t n, Workers& workers) {
  const auto count = static_cast<double>(n);
  const auto d = std::min(decay_, (1 + count) / (10 + count));
  pieces_.for_each(workers, [&](std::size_t, const Piece& piece) {
    piece.of(smoothed_).lerp_(piece.of(weights_), 1 - d);
  });
}

void MovingAverage::swap(const torch::Tensor& scratch) {
  const torch::NoGradGuard guard;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto weights = scratch.narrow(0, 0, weights_[i].numel()).view_as(weights_[i]);
    weights.copy_(weights_[i]);
    weights_[i].copy_(smoothed_[i]);
    smoothed_[i].copy_(weights);
  }
}

AveragedWeights::AveragedWeights(MovingAverage* average) : average_(average) {
  if (average_ == nullptr || average_->weights_.empty()) return;
  std::int64_t largest = 0;
  for (const auto& tensor : average_->weights_) largest = std::max(largest, tensor.numel());
  scratch_ = torch::empty({largest}, average_->weights_.front().options().requires_grad(false));
  average_->swap(scratch_);
}

AveragedWeights::~AveragedWeights() {
  if (scratch_.defined()) average_->swap(scratch_);
}

}  // namespace regard
