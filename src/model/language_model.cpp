#include "model/language_model.h"

#include "model/output/output_factory.h"
#include "model/rnn/decoder.h"
#include "model/transformer/decoder.h"

namespace regard {
namespace {

std::shared_ptr<Decoder> make_decoder_without_source(ModelOptions o) {
  if (o.decoder.kind == LayerKind::transformer) {
    return std::make_shared<TransformerDecoder>(0, o.decoder, o.dropout, /*want_weights=*/false);
  }
  o.attention = {};
  o.attention.kind = AttentionKind::none;
  o.attention.fixed_context = FixedContext::initial;
  o.decoder.initial_state = InitialState::zero;
  return std::make_shared<RecurrentDecoder>(0, o);
}

}  // namespace

LanguageModel::LanguageModel(std::int64_t vocabulary, const ModelOptions& options)
    : Generator(make_decoder_without_source(options), options) {
  target_input_ = make_input(options.decoder, options.dropout, "model.decoder");
  output_layer_ = make_output_layer({.model = *this,
                                     .options = options,
                                     .source_embedding = {},
                                     .vocabulary = vocabulary,
                                     .state_size = 0,
                                     .readout_size = decoder_->readout_size()});
  register_module("decoder", decoder_);
  register_module("target_input", target_input_);
}

EncoderOutput LanguageModel::encode(const SourceBatch& source) {
  EncoderOutput encoded;
  const auto options = parameters().front().options().requires_grad(false);
  encoded.states = torch::empty({source.size(), 1, 0}, options);
  encoded.summary = torch::empty({source.size(), 0}, options);
  encoded.set_lengths(torch::ones_like(source.lengths), 1, options.device());
  decoder_->prepare(encoded);
  return encoded;
}

SelfAttention LanguageModel::self_attention(const SourceBatch& source, const torch::Tensor& input) {
  return {.encoder = {}, .decoder = decoder_self_attention(input, encode(source))};
}

}  // namespace regard
