#include "model/transformer/layers.h"

#include "kernels/device.h"

namespace regard {

using torch::Tensor;

Tensor final_norm(const LayerNorm* norm, const ResidualStream& stream) {
  if (norm == nullptr) return stream.x;
  return norm->add_and_norm(stream.x, stream.z, stream.dropout).norm;
}

EncoderLayer::EncoderLayer(std::int64_t D, const SelfAttentionOptions& o,
                           const DropoutOptions& dropout)
    : attention_(register_module(
          "attention", std::make_shared<MultiHeadAttention>(D, D, o.heads, dropout.attention))),
      attention_norm_(
          register_module("attention_norm", std::make_shared<Residual>(D, o.norm, dropout.states))),
      feed_forward_(register_module(
          "feed_forward", std::make_shared<FeedForward>(D, o.feed_forward_size, dropout.states))),
      feed_forward_norm_(register_module("feed_forward_norm",
                                         std::make_shared<Residual>(D, o.norm, dropout.states))) {}

namespace {

// Self-attention of x [B, T, D]. Stores the weights of the heads in `heads`, unless it is null.
Tensor attend_to_itself(MultiHeadAttention& attention, const Tensor& x,
                        const kernels::Padding& padding, const Tensor& rotation, bool causal,
                        Tensor* heads) {
  const auto attended = attention.forward(x, attention.keys_and_values(x, rotation), padding,
                                          causal, heads != nullptr, rotation);
  if (heads != nullptr) *heads = attended.heads;
  return attended.y;
}

}  // namespace

ResidualStream EncoderLayer::forward(const ResidualStream& x, const kernels::Padding& padding,
                                     const Tensor& rotation, Tensor* heads) {
  const auto attended = attention_norm_->apply(x, [&](const Tensor& z) {
    return attend_to_itself(*attention_, z, padding, rotation, /*causal=*/false, heads);
  });
  return feed_forward_norm_->apply(attended,
                                   [&](const Tensor& z) { return feed_forward_->forward(z); });
}

DecoderLayer::DecoderLayer(std::int64_t D, std::int64_t C, const SelfAttentionOptions& o,
                           const DropoutOptions& dropout) {
  const auto norm = [&] { return std::make_shared<Residual>(D, o.norm, dropout.states); };
  const auto attention = [&](std::int64_t width) {
    return std::make_shared<MultiHeadAttention>(D, width, o.heads, dropout.attention);
  };
  self_attention_ = register_module("self_attention", attention(D));
  self_attention_norm_ = register_module("self_attention_norm", norm());
  if (C > 0) {
    source_attention_ = register_module("source_attention", attention(C));
    source_attention_norm_ = register_module("source_attention_norm", norm());
  }
  feed_forward_ = register_module(
      "feed_forward", std::make_shared<FeedForward>(D, o.feed_forward_size, dropout.states));
  feed_forward_norm_ = register_module("feed_forward_norm", norm());
}

Tensor DecoderLayer::source_keys_and_values(const Tensor& states) {
  if (!source_attention_) {
    return states.new_zeros({states.size(0), 1, 2 * self_attention_->width()});
  }
  return source_attention_->keys_and_values(states);
}

DecoderLayer::AllSteps DecoderLayer::forward(const ResidualStream& x, const Source& source,
                                             const Tensor& rotation, bool want_weights,
                                             Tensor* self_heads) {
  AllSteps all;
  const auto after_self_attention = self_attention_norm_->apply(x, [&](const Tensor& z) {
    return attend_to_itself(*self_attention_, z, {}, rotation, /*causal=*/true, self_heads);
  });
  const auto after_source_attention =
      !source_attention_
          ? after_self_attention
          : source_attention_norm_->apply(after_self_attention, [&](const Tensor& z) {
              const auto attended =
                  source_attention_->forward(z, source.keys_and_values, source.padding,
                                             /*causal=*/false, want_weights);
              all.weights = attended.weights;
              return attended.y;
            });
  all.x = feed_forward_norm_->apply(after_source_attention,
                                    [&](const Tensor& z) { return feed_forward_->forward(z); });
  return all;
}

DecoderLayer::Past DecoderLayer::past_of(const DecoderState& state, const Tensor& like) {
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

DecoderLayer::Step DecoderLayer::step(const ResidualStream& x, const Past& past,
                                      const Source& source, bool want_weights) {
  Step next;
  const auto after_self_attention = self_attention_norm_->apply(x, [&](const Tensor& z) {
    next.past =
        kernels::with_current(past.keys_and_values, past.rows, past.positions,
                              self_attention_->keys_and_values(z, past.rotation).squeeze(1));
    return self_attention_
        ->forward(z, next.past.narrow(1, 0, past.positions.largest + 1), past.padding,
                  /*causal=*/false, /*want_weights=*/false, past.rotation)
        .y;
  });
  const auto after_source_attention =
      !source_attention_
          ? after_self_attention
          : source_attention_norm_->apply(after_self_attention, [&](const Tensor& z) {
              const auto queries =
                  z.view({source.keys_and_values.size(0), -1, z.size(2)});  // [B, G, D]
              const auto attended = source_attention_->forward(
                  queries, source.keys_and_values, source.padding, /*causal=*/false, want_weights);
              if (want_weights) {
                next.weights = attended.weights.reshape({z.size(0), -1});   // [N, S]
                next.heads = attended.heads.transpose(1, 2).flatten(0, 1);  // [N, H, S]
              }
              return attended.y.view_as(z);
            });
  next.x = feed_forward_norm_->apply(after_source_attention,
                                     [&](const Tensor& z) { return feed_forward_->forward(z); });
  return next;
}

}  // namespace regard
