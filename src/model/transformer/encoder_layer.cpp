#include "model/transformer/encoder_layer.h"

namespace regard {

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

torch::Tensor EncoderLayer::forward(const torch::Tensor& x, const Padding& padding) {
  const auto attended = attention_norm_->around(x, [&](const torch::Tensor& z) {
    return attention_->forward(z, attention_->keys_and_values(z), padding, false, false).y;
  });
  return feed_forward_norm_->around(
      attended, [&](const torch::Tensor& z) { return feed_forward_->forward(z); });
}

}  // namespace regard
