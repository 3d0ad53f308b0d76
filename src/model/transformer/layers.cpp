#include "model/transformer/layers.h"

#include "kernels/device.h"

namespace regard {

using torch::Tensor;

Tensor final_norm(const LayerNorm* norm, const ResidualStream& stream) {
  if (norm == nullptr) return stream.x;
  return norm->add_and_norm(stream.x, stream.z, stream.dropout).norm;
}

TransformerLayer::TransformerLayer(std::int64_t D, std::int64_t C,
                                   const std::string& self_attention, bool is_causal,
                                   const SelfAttentionOptions& o, const DropoutOptions& dropout)
    : is_causal_(is_causal) {
  const auto norm = [&] { return std::make_shared<Residual>(D, o.norm, dropout.states); };
  const auto attention = [&](std::int64_t width) {
    return std::make_shared<MultiHeadAttention>(D, width, o.heads, dropout.attention);
  };
  self_attention_ = register_module(self_attention, attention(D));
  self_attention_norm_ = register_module(self_attention + "_norm", norm());
  if (C > 0) {
    source_attention_ = register_module("source_attention", attention(C));
    source_attention_norm_ = register_module("source_attention_norm", norm());
  }
  feed_forward_ = register_module(
      "feed_forward", std::make_shared<FeedForward>(D, o.feed_forward_size, dropout.states));
  feed_forward_norm_ = register_module("feed_forward_norm", norm());
}

Tensor TransformerLayer::source_keys_and_values(const Tensor& states) {
  if (!source_attention_) {
    return states.new_zeros({states.size(0), 1, 2 * self_attention_->width()});
  }
  return source_attention_->keys_and_values(states);
}

template <typename SelfAttention>
TransformerLayer::Output TransformerLayer::run(const ResidualStream& x,
                                               const SelfAttention& attend_to_itself,
                                               const Source& source, bool want_weights) {
  Output output{.x = self_attention_norm_->apply(x, attend_to_itself)};
  if (source_attention_) {
    output.x = source_attention_norm_->apply(output.x, [&](const Tensor& z) {
      const auto queries =
          z.view({source.keys_and_values.size(0), -1, z.size(2)});  // [B, T or G, D]
      const auto attended = source_attention_->forward(
          queries, source.keys_and_values, source.padding, /*causal=*/false, want_weights);
      output.weights = attended.weights;
      output.heads = attended.heads;
      return attended.y.view_as(z);
    });
  }
  output.x = feed_forward_norm_->apply(output.x,
                                       [&](const Tensor& z) { return feed_forward_->forward(z); });
  return output;
}

TransformerLayer::Output TransformerLayer::forward(const ResidualStream& x,
                                                   const kernels::Padding& padding,
                                                   const Source& source, const Tensor& rotation,
                                                   bool want_weights, Tensor* self_heads) {
  const auto attend_to_itself = [&](const Tensor& z) {
    const auto attended =
        self_attention_->forward(z, self_attention_->keys_and_values(z, rotation), padding,
                                 is_causal_, self_heads != nullptr, rotation);
    if (self_heads != nullptr) *self_heads = attended.heads;
    return attended.y;
  };
  return run(x, attend_to_itself, source, want_weights);
}

TransformerLayer::Past TransformerLayer::past_of(const DecoderState& state, const Tensor& like) {
  Past past{.keys_and_values = {},
            .rows = state.past_rows,
            .positions = {state.position, state.positions, {}},
            .padding = {},
            .rotation = {}};
  if (!state.positions.defined()) return past;
  const auto last = to_device(state.positions, like.device());
  past.positions.each_on_device = last;
  const auto columns = torch::arange(state.position + 1, last.options());
  past.padding = kernels::make_padding(columns <= last.unsqueeze(1), state.positions + 1, like);
  return past;
}

TransformerLayer::Output TransformerLayer::step(const ResidualStream& x, const Past& past,
                                                const Source& source, bool want_weights) {
  Tensor with_current;
  const auto attend_to_itself = [&](const Tensor& z) {
    with_current =
        kernels::with_current(past.keys_and_values, past.rows, past.positions,
                              self_attention_->keys_and_values(z, past.rotation).squeeze(1));
    return self_attention_
        ->forward(z, with_current.narrow(1, 0, past.positions.largest + 1), past.padding,
                  /*causal=*/false, /*want_weights=*/false, past.rotation)
        .y;
  };
  auto next = run(x, attend_to_itself, source, want_weights);
  next.past = with_current;
  if (next.weights.defined()) {
    next.weights = next.weights.flatten(0, 1);              // [N, S]
    next.heads = next.heads.transpose(1, 2).flatten(0, 1);  // [N, H, S]
  }
  return next;
}

}  // namespace regard
