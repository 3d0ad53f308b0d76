#include "model/attention/cosine.h"

#include "model/attention/sharpness.h"

namespace regard {

Cosine::Cosine(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : projection_(*this, query_size, state_size, options),
      b_(register_parameter("b", torch::full({}, first_sharpness()))) {}

torch::Tensor Cosine::keys(const torch::Tensor& states) {
  return kernels::softplus(b_) * normalised(projection_(states));
}

std::optional<kernels::AttentionScore> Cosine::kernel_score(const Memory& memory) {
  return kernels::AttentionScore{
      .form = kernels::ScoreForm::cosine, .keys = memory.keys, .lengths = memory.lengths};
}

}  // namespace regard
