#include "model/encoder_decoder.h"

#include <utility>

#include "model/output/output_factory.h"
#include "model/rnn/decoder.h"
#include "model/transformer/decoder.h"

namespace regard {
namespace {

std::shared_ptr<Decoder> make_decoder(std::int64_t state_size, const ModelOptions& o) {
  if (o.decoder.kind == LayerKind::recurrent) {
    return std::make_shared<RecurrentDecoder>(state_size, o);
  }
  const bool want_weights = o.output.kind == OutputKind::copy;  // its loss needs them
  return std::make_shared<TransformerDecoder>(state_size, o.decoder, o.dropout, want_weights);
}

}  // namespace

EncoderDecoder::EncoderDecoder(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                               const ModelOptions& options)
    : EncoderDecoder(SourceEncoder(options), source_vocabulary, target_vocabulary, options) {}

EncoderDecoder::EncoderDecoder(SourceEncoder source, std::int64_t source_vocabulary,
                               std::int64_t target_vocabulary, const ModelOptions& options)
    : Generator(make_decoder(source.state_size(), options), options),
      source_(std::move(source)),
      source_limit_(source_limit_of(options)) {
  source_.add_input(options);
  target_input_ = make_input(options.decoder, options.dropout, "model.decoder");
  source_.add_embedding(*this, source_vocabulary, options);
  output_layer_ = make_output_layer({.model = *this,
                                     .options = options,
                                     .source_embedding = source_.embedding(),
                                     .vocabulary = target_vocabulary,
                                     .state_size = source_.state_size(),
                                     .readout_size = decoder_->readout_size()});
  source_.register_encoder(*this);
  register_module("decoder", decoder_);
  source_.register_input(*this);
  register_module("target_input", target_input_);
}

EncoderOutput EncoderDecoder::encode(const SourceBatch& source,
                                     std::vector<torch::Tensor>* self_attention) {
  auto [encoded, embedded] = source_.encode(source, self_attention);
  decoder_->prepare(encoded);
  output_layer_->prepare(encoded, source, embedded);
  return encoded;
}

SelfAttention EncoderDecoder::self_attention(const SourceBatch& source,
                                             const torch::Tensor& input) {
  SelfAttention weights;
  const auto encoded = encode(source, &weights.encoder);
  weights.decoder = decoder_self_attention(input, encoded);
  return weights;
}

}  // namespace regard
