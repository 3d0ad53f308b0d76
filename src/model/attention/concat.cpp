#include "model/attention/concat.h"

#include "kernels/linear.h"
#include "model/initialisation.h"

namespace regard {

Concat::Concat(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : query_size_(query_size) {
  const auto A = options.size;
  W_ = register_parameter("W", torch::empty({A, query_size + state_size}));
  xavier_uniform(W_);
  v_ = register_parameter("v", score_vector(A));
}

torch::Tensor Concat::keys(const torch::Tensor& states) {
  return kernels::linear(states, W_.slice(1, query_size_));  // W_h h_s
}

std::optional<kernels::AttentionScore> Concat::kernel_score(const Memory& memory) {
  return kernels::AttentionScore{.form = kernels::ScoreForm::additive,
                                 .W = W_.slice(1, 0, query_size_),
                                 .v = v_,
                                 .keys = memory.keys,
                                 .lengths = memory.lengths};
}

}  // namespace regard
