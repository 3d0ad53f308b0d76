#include "model/attention/general.h"

namespace regard {

General::General(std::int64_t query_size, std::int64_t state_size,
                 const AttentionOptions& /*options*/)
    : W_(register_module("W", Linear(state_size, query_size, false))) {}

torch::Tensor General::keys(const torch::Tensor& states) {
  return W_(states);
}

std::optional<kernels::AttentionScore> General::kernel_score(const Memory& memory) {
  return kernels::AttentionScore{
      .form = kernels::ScoreForm::dot, .keys = memory.keys, .lengths = memory.lengths};
}

}  // namespace regard
