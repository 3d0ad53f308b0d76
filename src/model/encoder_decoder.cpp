#include "model/encoder_decoder.h"

#include "model/initialisation.h"
#include "model/rnn/decoder.h"
#include "model/rnn/encoder.h"

namespace regard {

EncoderDecoder::EncoderDecoder(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                               const ModelOptions& options)
    : encoder_(std::make_shared<RecurrentEncoder>(options.encoder, options.dropout.states)),
      decoder_(std::make_shared<RecurrentDecoder>(encoder_->state_size(), options)),
      embedding_dropout_(std::make_shared<Dropout>(options.dropout.embeddings)) {
  const auto tied = options.tied_embeddings;
  source_embedding_ = register_parameter(
      "source_embedding", torch::empty({source_vocabulary, options.encoder.embedding_dim}));
  embedding_normal(source_embedding_);
  target_embedding_ = source_embedding_;
  if (tied != TiedEmbeddings::all) {
    target_embedding_ = register_parameter(
        "target_embedding", torch::empty({target_vocabulary, options.decoder.embedding_dim}));
    embedding_normal(target_embedding_);
  }
  register_module("encoder", encoder_);
  register_module("decoder", decoder_);
  output_weight_ = target_embedding_;
  if (tied == TiedEmbeddings::none) {
    output_weight_ = register_parameter(
        "output_weight", torch::empty({target_vocabulary, options.decoder.readout_size}));
    xavier_uniform(output_weight_);
  }
  output_bias_ = register_parameter("output_bias", torch::zeros({target_vocabulary}));
  register_module("embedding_dropout", embedding_dropout_);
}

Memory EncoderDecoder::encode(const torch::Tensor& source, const torch::Tensor& lengths) {
  const auto embedded = embedding_dropout_->forward(torch::embedding(source_embedding_, source));
  const auto encoded = encoder_->forward(embedded, lengths);
  Memory memory;
  memory.values = encoded.states;
  memory.mask = encoded.mask;
  memory.lengths = lengths;
  memory.summary = encoded.last;
  decoder_->prepare(memory);
  return memory;
}

torch::Tensor EncoderDecoder::embedded_target(const torch::Tensor& tokens) {
  return embedding_dropout_->forward(torch::embedding(target_embedding_, tokens));
}

DecoderStep EncoderDecoder::step(const torch::Tensor& tokens, const DecoderState& state,
                                 const Memory& memory) {
  return decoder_->step(embedded_target(tokens), state, memory);
}

AttentionDetail EncoderDecoder::explain(const torch::Tensor& tokens, const DecoderState& state,
                                        const Memory& memory) {
  return decoder_->explain(embedded_target(tokens), state, memory);
}

Decoded EncoderDecoder::decode(const torch::Tensor& input, const Memory& memory) {
  return decoder_->forward(embedded_target(input), memory);
}

}  // namespace regard
