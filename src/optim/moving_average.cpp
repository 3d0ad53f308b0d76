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

void MovingAverage::swap() {
  const torch::NoGradGuard guard;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto weights = parameters_[i].second.clone();
    parameters_[i].second.copy_(averages_[i].second);
    averages_[i].second.copy_(weights);
  }
}

}  // namespace regard
