#include "model/attention/location.h"

#include "base/error.h"
#include "model/initialisation.h"

namespace regard {

Location::Location(std::int64_t query_size, std::int64_t /*state_size*/,
                   const AttentionOptions& options)
    : max_positions_(options.max_positions),
      W_(register_parameter("W", torch::empty({max_positions_, query_size}))) {
  xavier_uniform(W_);
}

torch::Tensor Location::keys(const torch::Tensor& states) {
  const auto S = states.size(1);
  if (S > max_positions_) {
    throw InputError(
        "a source of {} tokens is longer than what location attention was made for "
        "(model.attention.max_positions: {}); shorten it, or train with more positions",
        S, max_positions_);
  }
  return states.narrow(2, 0, 0);
}

std::optional<kernels::AttentionScore> Location::kernel_score(const Memory& memory) {
  return kernels::AttentionScore{.form = kernels::ScoreForm::position,
                                 .W = W_.narrow(0, 0, memory.keys.size(1)),
                                 .keys = memory.keys,
                                 .lengths = memory.lengths};
}

}  // namespace regard
