#include "model/attention/cosine.h"

#include <cmath>

namespace regard {
namespace {

constexpr double first_sharpness = 8;

}  // namespace

Cosine::Cosine(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : projection_(*this, query_size, state_size, options),
      b_(register_parameter("b", torch::full({}, std::log(std::expm1(first_sharpness))))) {}

torch::Tensor Cosine::keys(const torch::Tensor& states) {
  const auto k = projection_(states);
  return torch::softplus(b_) * k /
         k.norm(2, -1, /*keepdim=*/true).clamp_min(kernels::smallest_norm);
}

std::optional<kernels::AttentionScore> Cosine::kernel_score(const Memory& memory) {
  return kernels::AttentionScore{
      .form = kernels::ScoreForm::cosine, .keys = memory.keys, .lengths = memory.lengths};
}

}  // namespace regard
