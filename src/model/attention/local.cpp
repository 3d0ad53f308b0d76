#include "model/attention/local.h"

#include <limits>

#include "model/attention/table.h"
#include "model/initialisation.h"

namespace regard {

Local::Local(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : D_(static_cast<double>(options.window)),
      content_(register_module("content", make_content_score(query_size, state_size, options))) {}

AttentionStep Local::step(const torch::Tensor& query, const AttentionState& state,
                          const Memory& memory) {
  const auto S = memory.values.size(1);
  const auto queries = query.view({memory.values.size(0), -1, query.size(1)});  // [B, G, D]
  const auto lengths = memory.lengths.to(queries.device()).view({-1, 1, 1});
  const auto s = torch::arange(S, queries.options());
  const auto distance = s - centre(queries, state, lengths);  // [B, G, S]
  const auto outside = (distance.abs() > D_).logical_or(memory.mask.logical_not().unsqueeze(1));
  const auto alpha = content_->score(queries, memory)
                         .masked_fill(outside, -std::numeric_limits<double>::infinity())
                         .softmax(-1);
  return {shaped(alpha, distance).view({query.size(0), S}), {}, next(state)};
}

AttentionState LocalM::start(const Memory& memory) {
  return {memory.values.new_zeros({memory.values.size(0)})};
}

torch::Tensor LocalM::centre(const torch::Tensor& queries, const AttentionState& state,
                             const torch::Tensor& lengths) {
  return torch::minimum(state[0].view({queries.size(0), -1, 1}), lengths - 1);
}

LocalP::LocalP(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : Local(query_size, state_size, options) {
  W_p_ = register_module("W_p", Linear(query_size, query_size, false));
  v_p_ = register_parameter("v_p", score_vector(query_size));
}

torch::Tensor LocalP::centre(const torch::Tensor& queries, const AttentionState& /*state*/,
                             const torch::Tensor& lengths) {
  return lengths * W_p_(queries).tanh().matmul(v_p_).sigmoid().unsqueeze(-1);
}

torch::Tensor LocalP::shaped(const torch::Tensor& weights, const torch::Tensor& distance) {
  const double sigma = D_ / 2;
  return weights * (distance.square() / (-2 * sigma * sigma)).exp();
}

}  // namespace regard
