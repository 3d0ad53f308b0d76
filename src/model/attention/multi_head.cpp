#include "model/attention/multi_head.h"

#include <cmath>

#include "base/error.h"
#include "kernels/packed_weights.h"
#include "kernels/scaled_dot_product.h"
#include "model/heads.h"

namespace regard {

MultiHead::MultiHead(std::int64_t query_size, std::int64_t state_size,
                     const AttentionOptions& options)
    : heads_(options.heads), dropout_(std::make_shared<Dropout>(options.dropout)) {
  const auto A = options.size;
  if (A % heads_ != 0) {
    throw ConfigError(
        "model.attention.heads: found {}, wanted a divisor of the width that the heads share, {} "
        "(model.attention.size)",
        heads_, A);
  }
  W_Q_ = register_module("W_Q", Linear(query_size, A));
  W_K_ = register_module("W_K", Linear(state_size, A));
  W_V_ = register_module("W_V", Linear(state_size, A));
  W_O_ = register_module("W_O", Linear(A, state_size));
  register_module("dropout", dropout_);
}

void MultiHead::prepare(Memory& memory) {
  memory.keys = by_head(W_K_(memory.values), heads_).contiguous();
  memory.head_values = by_head(W_V_(memory.values), heads_).contiguous();
}

torch::Tensor MultiHead::weights(const torch::Tensor& query, const Memory& memory) {
  const auto q = by_head(by_sentence(W_Q_(query), memory), heads_);  // [B, H, G, d]
  if (kernels::is_batch_invariant(q)) {
    return kernels::attend_heads(q, memory.keys, memory.head_values, memory.lengths, true).alpha;
  }
  const auto e = q.matmul(memory.keys.transpose(2, 3)) /
                 std::sqrt(static_cast<double>(q.size(3)));  // [B, H, G, S]
  return kernels::masked_softmax(e.flatten(1, 2), memory.lengths).view_as(e);
}

torch::Tensor MultiHead::heads(const torch::Tensor& query, const Memory& memory) {
  return weights(query, memory).transpose(1, 2).flatten(0, 1);  // [N, H, S]
}

AttentionStep MultiHead::step(const torch::Tensor& query, const AttentionState& /*state*/,
                              const Memory& memory) {
  if (kernels::is_batch_invariant(query)) {
    const auto q = by_head(by_sentence(W_Q_(query), memory), heads_);
    const auto [y, alpha] =
        kernels::attend_heads(q, memory.keys, memory.head_values, memory.lengths, true);
    const auto N = query.size(0);
    return {kernels::mean_over_heads(alpha).view({N, -1}), W_O_(y.view({N, -1})), {}};
  }
  const auto alpha = weights(query, memory);
  const auto heads = dropout_->forward(alpha).matmul(memory.head_values);  // [B, H, G, d]
  const auto context = W_O_(heads.transpose(1, 2).reshape({query.size(0), -1}));
  return {alpha.mean(1).reshape({query.size(0), -1}), context, {}};
}

}  // namespace regard
