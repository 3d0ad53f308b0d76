#include "model/attention/location.h"

#include <algorithm>

#include "base/counted.h"
#include "base/error.h"
#include "kernels/packed_weights.h"
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
        "a source of {} is longer than what location attention was made for "
        "(model.attention.max_positions: {}); shorten it, or train with more positions",
        counted(S, "token"), max_positions_);
  }
  return states.narrow(2, 0, 0);
}

std::optional<kernels::AttentionScore> Location::kernel_score(const Memory& memory) {
  // In a search W is packed once for each number of rows: only for multiples of 64.
  auto rows = memory.keys.size(1);
  if (kernels::is_batch_invariant(W_)) rows = std::min(max_positions_, (rows + 63) / 64 * 64);
  return kernels::AttentionScore{.form = kernels::ScoreForm::position,
                                 .W = W_.narrow(0, 0, rows),
                                 .keys = memory.keys,
                                 .lengths = memory.lengths};
}

}  // namespace regard
