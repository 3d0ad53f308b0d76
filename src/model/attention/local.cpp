#include "model/attention/local.h"

#include "kernels/functions.h"
#include "kernels/linear.h"
#include "model/attention/table.h"
#include "model/initialisation.h"

namespace regard {
namespace {

// [B, 1, 1], beside the values
torch::Tensor lengths_of(const Memory& memory) {
  return memory.lengths.to(memory.values.device()).view({-1, 1, 1});
}

}  // namespace

Local::Local(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
    : D_(static_cast<double>(options.window)),
      content_(register_module("content", make_content_score(query_size, state_size, options))) {}

AttentionStep Local::step(const torch::Tensor& query, const AttentionState& state,
                          const Memory& memory) {
  const auto S = memory.values.size(1);
  const auto queries = by_sentence(query, memory);  // [B, G, D]
  const auto lengths = lengths_of(memory);
  const auto p = centre(queries, state, lengths);  // [B, G, 1]
  const auto alpha = content_->weights(query, memory, window(p, lengths));
  const auto distance = torch::arange(S, queries.options()) - p;  // [B, G, S]
  return {shaped(alpha.view_as(distance), distance).view({query.size(0), S}), {}, next(state)};
}

torch::Tensor Local::window(const torch::Tensor& p, const torch::Tensor& lengths) const {
  const auto first = (p.detach() - D_).ceil().to(torch::kLong);
  const auto behind = (p.detach() + D_).floor().to(torch::kLong) + 1;
  // Whatever p is, even no number, there is a position in the sentence.
  const auto begin = torch::minimum(first, lengths - 1).clamp_min(0);
  const auto end = torch::maximum(torch::minimum(behind, lengths), begin + 1);
  return torch::cat({begin, end}, 2).view({-1, 2}).cpu();
}

NamedNumbers Local::numbers(const torch::Tensor& query, const AttentionState& state,
                            const Memory& memory) {
  return {{"p_t", centre(by_sentence(query, memory), state, lengths_of(memory)).view({-1, 1}) + 1}};
}

AttentionState LocalM::start(const Memory& memory) {
  return {memory.values.new_zeros({memory.values.size(0)})};
}

std::optional<AttentionState> LocalM::known_states(std::int64_t T, const Memory& memory) {
  return AttentionState{torch::arange(T, memory.values.options()).repeat({memory.values.size(0)})};
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
  const auto e = kernels::product_with_vector(kernels::tanh(W_p_(queries)), v_p_);  // [B, G]
  return lengths * kernels::sigmoid(e).unsqueeze(-1);
}

torch::Tensor LocalP::shaped(const torch::Tensor& weights, const torch::Tensor& distance) {
  const double sigma = D_ / 2;
  return weights * kernels::exp(distance.square() / (-2 * sigma * sigma));
}

}  // namespace regard
