#include "model/attention/additive.h"

#include "model/initialisation.h"

namespace regard {

Additive::Additive(std::int64_t query_size, std::int64_t state_size,
                   const AttentionOptions& options) {
  const auto A = options.size;
  W_ = register_module("W", Linear(query_size, A, false));
  U_ = register_module("U", Linear(state_size, A));
  v_ = register_parameter("v", score_vector(A));
}

torch::Tensor Additive::keys(const torch::Tensor& states) {
  return U_(states);
}

std::optional<kernels::AttentionScore> Additive::kernel_score(const Memory& memory) {
  return kernels::AttentionScore{.form = kernels::ScoreForm::additive,
                                 .W = W_->weight,
                                 .v = v_,
                                 .keys = memory.keys,
                                 .lengths = memory.lengths};
}

}  // namespace regard
