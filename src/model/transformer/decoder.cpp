#include "model/transformer/decoder.h"

#include <string>
#include <utility>

namespace regard {

TransformerDecoder::TransformerDecoder(std::int64_t encoder_state_size,
                                       const DecoderOptions& options, const DropoutOptions& dropout,
                                       bool want_weights)
    : D_(options.hidden_size),
      has_source_(encoder_state_size > 0),
      want_weights_(want_weights),
      rotation_(make_rotation(options.self_attention, options.hidden_size)),
      readout_dropout_(std::make_shared<Dropout>(dropout.readout)) {
  const auto& o = options.self_attention;
  if (rotation_) register_module("rotation", rotation_);
  for (std::int64_t l = 0; l < options.layers; ++l) {
    layers_.push_back(
        register_module("layer" + std::to_string(l),
                        std::make_shared<TransformerLayer>(D_, encoder_state_size, "self_attention",
                                                           /*is_causal=*/true, o, dropout)));
  }
  if (o.norm == NormPlacement::pre)
    norm_ = register_module("norm", std::make_shared<LayerNorm>(D_));
  register_module("readout_dropout", readout_dropout_);
}

void TransformerDecoder::prepare(EncoderOutput& encoded) {
  DecoderContext::Tensors keys_and_values;
  for (const auto& layer : layers_)
    keys_and_values.push_back(layer->source_keys_and_values(encoded.states));
  encoded.context.set(this, std::move(keys_and_values));
  encoded.set_bias(encoded.states);
}

DecoderState TransformerDecoder::initial_state(const EncoderOutput& encoded) {
  DecoderState state;
  for (const auto& source : encoded.context.at(this)) {
    state.pasts.push_back(source.narrow(1, 0, 0));  // no steps yet: [B, 0, 2D]
  }
  return state;
}

DecoderStep TransformerDecoder::step(const torch::Tensor& embedded, const DecoderState& state,
                                     const EncoderOutput& encoded, bool want_weights,
                                     AttentionDetail* detail) {
  DecoderStep next;
  next.state.set_position_after(state);
  const auto& sources = encoded.context.at(this);
  const auto padding = encoded.attention_padding(embedded);
  auto past = TransformerLayer::past_of(state, embedded);
  if (rotation_) past.rotation = rotation_->of_rows(state).to(embedded.scalar_type());
  ResidualStream stream{.x = embedded.unsqueeze(1), .z = {}, .dropout = {}};  // [N, 1, D]
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const bool is_last = l + 1 == layers_.size();
    past.keys_and_values = state.pasts[l];
    const auto step = layers_[l]->step(stream, past, {sources[l], padding},
                                       (is_last && (want_weights_ || want_weights)) || detail);
    stream = step.x;
    next.state.pasts.push_back(step.past);
    if (is_last) next.weights = step.weights;
    if (detail && has_source_) detail->heads.push_back(step.heads);
  }
  next.hidden = final_norm(norm_.get(), stream).squeeze(1);  // [N, D]
  next.readout = readout_dropout_->forward(next.hidden);
  return next;
}

DecoderOutput TransformerDecoder::forward(const torch::Tensor& embedded,
                                          const EncoderOutput& encoded, bool want_weights,
                                          std::vector<torch::Tensor>* self_attention) {
  const auto& sources = encoded.context.at(this);
  const auto padding = encoded.attention_padding(embedded);
  const auto rotation =
      rotation_ ? rotation_->first(embedded.size(1)).to(embedded.scalar_type()) : torch::Tensor();
  ResidualStream stream{.x = embedded, .z = {}, .dropout = {}};
  torch::Tensor weights;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const bool is_last = l + 1 == layers_.size();
    torch::Tensor* heads = self_attention ? &self_attention->emplace_back() : nullptr;
    const auto all = layers_[l]->forward(stream, {}, {sources[l], padding}, rotation,
                                         is_last && (want_weights_ || want_weights), heads);
    stream = all.x;
    weights = all.weights;
  }
  const auto hidden = final_norm(norm_.get(), stream);
  return {.readout = readout_dropout_->forward(hidden), .weights = weights, .hidden = hidden};
}

}  // namespace regard
