#include "model/language_model.h"

#include <stdexcept>

#include "kernels/functions.h"
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

MaskedLanguageModel::Head::Head(std::int64_t C, std::int64_t R)
    : W(register_module("W", Linear(C, R))),
      norm(register_module("norm", std::make_shared<LayerNorm>(R))) {}

MaskedLanguageModel::MaskedLanguageModel(std::int64_t vocabulary, const ModelOptions& options)
    : source_(options),
      head_(std::make_shared<Head>(source_.state_size(), options.encoder.embedding_dim)),
      source_limit_(source_limit_of(options)) {
  source_.add_input(options);
  source_.add_embedding(*this, vocabulary, options);
  output_layer_ = make_output_layer({.model = *this,
                                     .options = options,
                                     .source_embedding = source_.embedding(),
                                     .vocabulary = vocabulary,
                                     .state_size = source_.state_size(),
                                     .readout_size = options.encoder.embedding_dim});
  source_.register_encoder(*this);
  register_module("decoder", head_);
  source_.register_input(*this);
}

EncoderOutput MaskedLanguageModel::encode(const SourceBatch& source) {
  auto [encoded, embedded] = source_.encode(source, nullptr);
  output_layer_->prepare(encoded, source, embedded);
  return encoded;
}

DecoderOutput MaskedLanguageModel::decode(const torch::Tensor& positions,
                                          const EncoderOutput& encoded, bool /*want_weights*/) {
  const auto indices = positions.unsqueeze(2).expand({-1, -1, encoded.states.size(2)});
  const auto states = encoded.states.gather(1, indices);  // [B, T, C]
  return {.readout = head_->norm->forward(kernels::gelu(head_->W(states)))};
}

SelfAttention MaskedLanguageModel::self_attention(const SourceBatch& source,
                                                  const torch::Tensor& /*input*/) {
  SelfAttention weights;
  source_.encode(source, &weights.encoder);
  return weights;
}

DecoderState MaskedLanguageModel::initial_state(const EncoderOutput& /*encoded*/) {
  throw std::logic_error("a masked language model has no search");
}

DecoderStep MaskedLanguageModel::step(const torch::Tensor& /*tokens*/,
                                      const DecoderState& /*state*/,
                                      const EncoderOutput& /*encoded*/, bool /*want_weights*/) {
  throw std::logic_error("a masked language model has no search");
}

}  // namespace regard
