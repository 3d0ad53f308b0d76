#include "model/generator.h"

#include <utility>

namespace regard {
namespace {

std::optional<LengthLimit> target_limit_of(const ModelOptions& model) {
  const auto& o = model.decoder;
  if (o.kind == LayerKind::recurrent || o.self_attention.position != PositionKind::learned) {
    return {};
  }
  return LengthLimit{o.self_attention.max_positions, "model.decoder.max_positions"};
}

}  // namespace

Generator::Generator(std::shared_ptr<Decoder> decoder, const ModelOptions& options)
    : decoder_(std::move(decoder)),
      has_self_attention_(options.decoder.kind == LayerKind::transformer),
      target_limit_(target_limit_of(options)) {}

DecoderStep Generator::step(const torch::Tensor& tokens, const DecoderState& state,
                            const EncoderOutput& encoded, bool want_weights) {
  const auto input = target_input_->step(output_layer_->embed(tokens, encoded), state);
  auto step = decoder_->step(input, state, encoded, want_weights);
  step.input = input;
  step.state.set_position_after(state);
  return step;
}

AttentionDetail Generator::explain(const torch::Tensor& tokens, const DecoderState& state,
                                   const EncoderOutput& encoded) {
  AttentionDetail detail;
  const auto input = target_input_->step(output_layer_->embed(tokens, encoded), state);
  decoder_->step(input, state, encoded, /*want_weights=*/true, &detail);
  return detail;
}

DecoderOutput Generator::decode(const torch::Tensor& input, const EncoderOutput& encoded,
                                bool want_weights) {
  const auto embedded = target_input_->forward(output_layer_->embed(input, encoded));
  auto decoded = decoder_->forward(embedded, encoded, want_weights);
  decoded.input = embedded;
  return decoded;
}

std::vector<torch::Tensor> Generator::decoder_self_attention(const torch::Tensor& input,
                                                             const EncoderOutput& encoded) {
  std::vector<torch::Tensor> weights;
  if (!has_self_attention_) return weights;
  const auto embedded = target_input_->forward(output_layer_->embed(input, encoded));
  decoder_->forward(embedded, encoded, /*want_weights=*/false, &weights);
  return weights;
}

}  // namespace regard
