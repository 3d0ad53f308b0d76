#include "model/transformer/encoder.h"

#include <string>
#include <utility>

#include "kernels/attention.h"

namespace regard {

TransformerEncoder::TransformerEncoder(std::int64_t D, std::int64_t layers,
                                       const SelfAttentionOptions& options,
                                       const DropoutOptions& dropout)
    : D_(D), rotation_(make_rotation(options, D)) {
  if (rotation_) register_module("rotation", rotation_);
  for (std::int64_t l = 0; l < layers; ++l) {
    layers_.push_back(
        register_module("layer" + std::to_string(l),
                        std::make_shared<TransformerLayer>(D, /*C=*/0, "attention",
                                                           /*is_causal=*/false, options, dropout)));
  }
  if (options.norm == NormPlacement::pre)
    norm_ = register_module("norm", std::make_shared<LayerNorm>(D));
}

EncoderOutput TransformerEncoder::forward(const torch::Tensor& embedded,
                                          const torch::Tensor& lengths,
                                          std::vector<torch::Tensor>* self_attention) {
  EncoderOutput encoded;
  encoded.set_lengths(lengths, embedded.size(1), embedded.device());
  encoded.set_bias(embedded);
  const auto padding = encoded.attention_padding(embedded, /*is_self_attention=*/true);
  const auto rotation =
      rotation_ ? rotation_->first(embedded.size(1)).to(embedded.scalar_type()) : torch::Tensor();
  ResidualStream stream{.x = embedded, .z = {}, .dropout = {}};
  for (const auto& layer : layers_) {
    torch::Tensor* heads = self_attention ? &self_attention->emplace_back() : nullptr;
    stream = layer->forward(stream, padding, {}, rotation, /*want_weights=*/false, heads).x;
  }
  encoded.states = final_norm(norm_.get(), stream);
  encoded.summary = kernels::masked_mean(encoded.states, encoded.mask);
  return encoded;
}

SelfAttentionEncoder::SelfAttentionEncoder(std::shared_ptr<Encoder> below,
                                           const EncoderOptions& options,
                                           const DropoutOptions& dropout)
    : below_(register_module("below", std::move(below))),
      positions_(register_module(
          "positions", std::make_shared<Positions>(options.self_attention, below_->state_size(),
                                                   "model.encoder"))),
      top_(register_module(
          "self_attention",
          std::make_shared<TransformerEncoder>(below_->state_size(), options.self_attention_layers,
                                               options.self_attention, dropout))) {}

EncoderOutput SelfAttentionEncoder::forward(const torch::Tensor& embedded,
                                            const torch::Tensor& lengths,
                                            std::vector<torch::Tensor>* self_attention) {
  const auto below = below_->forward(embedded, lengths);  // a pyramid has fewer states than tokens
  return top_->forward(positions_->add_to(below.states), below.lengths, self_attention);
}

}  // namespace regard
