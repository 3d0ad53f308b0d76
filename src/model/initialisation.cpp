#include "model/initialisation.h"

#include <torch/nn/init.h>
#include <torch/utils.h>

#include <cmath>

namespace regard {
namespace {

thread_local bool skip_initialisation = false;

}  // namespace

SkipInitialisation::SkipInitialisation() : previous_(skip_initialisation) {
  skip_initialisation = true;
}

SkipInitialisation::~SkipInitialisation() {
  skip_initialisation = previous_;
}

void xavier_uniform(torch::Tensor tensor) {
  if (skip_initialisation) return;
  const torch::NoGradGuard guard;
  torch::nn::init::xavier_uniform_(tensor);
}

void orthogonal(torch::Tensor tensor) {
  if (skip_initialisation) return;
  const torch::NoGradGuard guard;
  tensor.copy_(torch::nn::init::orthogonal_(torch::empty_like(tensor)));
}

void embedding_normal(torch::Tensor tensor) {
  if (skip_initialisation) return;
  const torch::NoGradGuard guard;
  tensor.normal_(0, 1 / std::sqrt(static_cast<double>(tensor.size(1))));
}

torch::Tensor uniform_vector(std::int64_t n) {
  auto v = torch::empty({n});
  const double bound = 1 / std::sqrt(static_cast<double>(n));
  if (!skip_initialisation) v.uniform_(-bound, bound);
  return v;
}

torch::Tensor normal_vector(std::int64_t n) {
  auto v = torch::empty({n});
  if (!skip_initialisation) v.normal_();
  return v;
}

}  // namespace regard
