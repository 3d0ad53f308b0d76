#include "model/encoder_decoder.h"

#include "model/initialisation.h"
#include "model/rnn/decoder.h"
#include "model/rnn/encoder.h"
#include "model/transformer/decoder.h"
#include "model/transformer/encoder.h"

namespace regard {
namespace {

std::shared_ptr<Encoder> make_encoder(const EncoderOptions& o, const DropoutOptions& dropout) {
  if (o.kind == LayerKind::transformer) {
    return std::make_shared<TransformerEncoder>(o.hidden_size, o.layers, o.self_attention, dropout);
  }
  const auto recurrent = std::make_shared<RecurrentEncoder>(o, dropout.states);
  if (o.self_attention_layers == 0) return recurrent;
  return std::make_shared<SelfAttentionEncoder>(recurrent, o, dropout);
}

std::shared_ptr<Decoder> make_decoder(std::int64_t state_size, const ModelOptions& o) {
  if (o.decoder.kind == LayerKind::transformer) {
    return std::make_shared<TransformerDecoder>(state_size, o.decoder, o.dropout);
  }
  return std::make_shared<RecurrentDecoder>(state_size, o);
}

template <typename Side>
std::shared_ptr<InputLayer> make_input(const Side& o, double dropout, const std::string& section) {
  return std::make_shared<InputLayer>(o.kind, o.embedding_dim, o.self_attention, dropout, section);
}

}  // namespace

EncoderDecoder::EncoderDecoder(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                               const ModelOptions& options)
    : encoder_(make_encoder(options.encoder, options.dropout)),
      decoder_(make_decoder(encoder_->state_size(), options)),
      source_input_(make_input(options.encoder, options.dropout.embeddings, "model.encoder")),
      target_input_(make_input(options.decoder, options.dropout.embeddings, "model.decoder")) {
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
        "output_weight", torch::empty({target_vocabulary, decoder_->readout_size()}));
    xavier_uniform(output_weight_);
  }
  output_bias_ = register_parameter("output_bias", torch::zeros({target_vocabulary}));
  register_module("source_input", source_input_);
  register_module("target_input", target_input_);
}

Memory EncoderDecoder::encode(const torch::Tensor& source, const torch::Tensor& lengths) {
  const auto encoded =
      encoder_->forward(source_input_->forward(source_embedding_, source), lengths);
  Memory memory;
  memory.values = encoded.states;
  memory.mask = encoded.mask;
  memory.lengths = lengths;
  memory.summary = encoded.last;
  decoder_->prepare(memory);
  return memory;
}

DecoderStep EncoderDecoder::step(const torch::Tensor& tokens, const DecoderState& state,
                                 const Memory& memory) {
  const auto x = target_input_->forward(target_embedding_, tokens, state.position);
  auto next = decoder_->step(x, state, memory);
  next.state.position = state.position + 1;
  return next;
}

AttentionDetail EncoderDecoder::explain(const torch::Tensor& tokens, const DecoderState& state,
                                        const Memory& memory) {
  return decoder_->explain(target_input_->forward(target_embedding_, tokens, state.position), state,
                           memory);
}

Decoded EncoderDecoder::decode(const torch::Tensor& input, const Memory& memory) {
  return decoder_->forward(target_input_->forward(target_embedding_, input), memory);
}

}  // namespace regard
