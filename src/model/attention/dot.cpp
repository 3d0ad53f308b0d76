#include "model/attention/dot.h"

#include <cmath>

namespace regard {

Dot::Dot(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options,
         double scale)
    : scale_(scale), projection_(*this, query_size, state_size, options) {}

torch::Tensor Dot::keys(const torch::Tensor& states) {
  return projection_(states);
}

std::optional<kernels::AttentionScore> Dot::kernel_score(const Memory& memory) {
  return kernels::AttentionScore{.form = kernels::ScoreForm::dot,
                                 .scale = scale_,
                                 .keys = memory.keys,
                                 .lengths = memory.lengths};
}

ScaledDot::ScaledDot(std::int64_t query_size, std::int64_t state_size,
                     const AttentionOptions& options)
    : Dot(query_size, state_size, options, 1 / std::sqrt(static_cast<double>(query_size))) {}

}  // namespace regard
