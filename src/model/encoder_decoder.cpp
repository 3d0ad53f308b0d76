#include "model/encoder_decoder.h"

#include "kernels/linear.h"
#include "model/attention/table.h"
#include "model/convolutional_encoder.h"
#include "model/initialisation.h"
#include "model/masked_head.h"
#include "model/output/output_factory.h"
#include "model/rnn/decoder.h"
#include "model/rnn/encoder.h"
#include "model/transformer/decoder.h"
#include "model/transformer/encoder.h"

namespace regard {
namespace {

// A language model has none.
std::shared_ptr<Encoder> make_encoder(const ModelOptions& options) {
  if (options.kind == ModelKind::language_model) return nullptr;
  const auto& o = options.encoder;
  const auto& dropout = options.dropout;
  if (o.kind == EncoderKind::convolutional) {
    return std::make_shared<ConvolutionalEncoder>(o, dropout.states);
  }
  if (o.kind == EncoderKind::transformer) {
    return std::make_shared<TransformerEncoder>(o.hidden_size, o.layers, o.self_attention, dropout);
  }
  const bool want_last_states = options.decoder.kind == LayerKind::recurrent &&
                                options.decoder.initial_state == InitialState::layers;
  const auto recurrent = std::make_shared<RecurrentEncoder>(o, dropout.states, want_last_states);
  if (o.self_attention_layers == 0) return recurrent;
  return std::make_shared<SelfAttentionEncoder>(recurrent, o, dropout);
}

std::shared_ptr<Decoder> make_decoder(std::int64_t state_size, const ModelOptions& o) {
  if (o.kind == ModelKind::masked_language_model) {
    return std::make_shared<MaskedHead>(state_size, o.encoder.embedding_dim);
  }
  if (o.decoder.kind == LayerKind::transformer) {
    const bool want_weights = o.output.kind == OutputKind::copy;  // its loss needs them
    return std::make_shared<TransformerDecoder>(state_size, o.decoder, o.dropout, want_weights);
  }
  if (o.kind == ModelKind::translation) return std::make_shared<RecurrentDecoder>(state_size, o);
  auto without_source = o;
  without_source.attention = {};
  without_source.attention.kind = AttentionKind::none;
  without_source.attention.fixed_context = FixedContext::initial;
  without_source.decoder.initial_state = InitialState::zero;
  return std::make_shared<RecurrentDecoder>(state_size, without_source);
}

template <typename Side>
std::shared_ptr<InputLayer> make_input(const Side& o, const DropoutOptions& dropout,
                                       const std::string& section) {
  const auto kind =
      o.kind == decltype(o.kind)::transformer ? LayerKind::transformer : LayerKind::recurrent;
  return std::make_shared<InputLayer>(kind, o.embedding_dim, o.hidden_size, o.self_attention,
                                      dropout, section);
}

std::optional<LengthLimit> source_limit_of(const ModelOptions& o) {
  std::optional<LengthLimit> limit;
  // An image has exactly model.encoder.image_height frames.
  const bool reads_images = o.encoder.kind == EncoderKind::convolutional;
  if (o.kind == ModelKind::language_model || reads_images) return limit;
  const auto lower_to = [&](std::int64_t tokens, const std::string& key) {
    tokens *= frames_per_state(o.encoder);
    if (!limit || tokens < limit->max_tokens) limit = {tokens, key};
  };
  const auto& encoder = o.encoder.self_attention;
  if (has_self_attention(o.encoder) && encoder.position == PositionKind::learned) {
    lower_to(encoder.max_positions, "model.encoder.max_positions");
  }
  if (o.kind == ModelKind::translation && o.decoder.kind == LayerKind::recurrent &&
      is_read(o.attention, &AttentionOptions::max_positions)) {
    lower_to(o.attention.max_positions, "model.attention.max_positions");
  }
  return limit;
}

std::optional<LengthLimit> target_limit_of(const ModelOptions& model) {
  const auto& o = model.decoder;
  if (model.kind == ModelKind::masked_language_model || o.kind == LayerKind::recurrent ||
      o.self_attention.position != PositionKind::learned) {
    return {};
  }
  return LengthLimit{o.self_attention.max_positions, "model.decoder.max_positions"};
}

// True if the encoder reads embedded tokens or frames, not images.
bool has_source_embedding(const ModelOptions& o) {
  return o.kind != ModelKind::language_model && o.encoder.kind != EncoderKind::convolutional;
}

// Concatenates K consecutive frames: [B, S, F] -> [B, ceil(S / K), K F], with zeros at the end.
torch::Tensor stack_frames(const torch::Tensor& frames, std::int64_t K) {
  if (K == 1) return frames;
  const auto [B, S, F] = std::tuple(frames.size(0), frames.size(1), frames.size(2));
  const auto stacked = (S + K - 1) / K;
  return torch::constant_pad_nd(frames, {0, 0, 0, stacked * K - S}).reshape({B, stacked, K * F});
}

}  // namespace

EncoderDecoder::EncoderDecoder(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                               const ModelOptions& options)
    : frame_stacking_(options.encoder.frame_stacking),
      encoder_(make_encoder(options)),
      decoder_(make_decoder(encoder_ ? encoder_->state_size() : 0, options)),
      source_input_(has_source_embedding(options)
                        ? make_input(options.encoder, options.dropout, "model.encoder")
                        : nullptr),
      target_input_(options.kind == ModelKind::masked_language_model
                        ? nullptr
                        : make_input(options.decoder, options.dropout, "model.decoder")),
      source_limit_(source_limit_of(options)),
      target_limit_(target_limit_of(options)) {
  if (source_input_) {
    const auto F = options.encoder.numbers;
    const auto K = frame_stacking_;
    const auto E = options.encoder.embedding_dim;
    source_embedding_ = register_parameter(
        "source_embedding", torch::empty({F > 0 ? K * (F + 1) : source_vocabulary, E}));
    embedding_normal(source_embedding_);
    if (F > 0) source_bias_ = register_parameter("source_bias", torch::zeros({E}));
  }
  output_layer_ = make_output_layer({.model = *this,
                                     .options = options,
                                     .source_embedding = source_embedding_,
                                     .vocabulary = target_vocabulary,
                                     .state_size = encoder_ ? encoder_->state_size() : 0,
                                     .readout_size = decoder_->readout_size()});
  if (encoder_) register_module("encoder", encoder_);
  register_module("decoder", decoder_);
  if (source_input_) register_module("source_input", source_input_);
  if (target_input_) register_module("target_input", target_input_);
}

torch::Tensor EncoderDecoder::embed(const torch::Tensor& source) {
  if (source_bias_.defined()) {
    const auto numbers = stack_frames(source.to(source_bias_.dtype()), frame_stacking_);
    return kernels::product(numbers, source_embedding_) + source_bias_;
  }
  // [B, S, 2] if the model copies words: token ids and extended ids.
  return torch::embedding(source_embedding_, source.dim() == 3 ? source.select(2, 0) : source);
}

EncoderOutput EncoderDecoder::encode(const torch::Tensor& source, const torch::Tensor& lengths) {
  return compute_encoding(source, lengths, nullptr);
}

EncoderOutput EncoderDecoder::compute_encoding(const torch::Tensor& source,
                                               const torch::Tensor& lengths,
                                               std::vector<torch::Tensor>* self_attention) {
  if (!encoder_) {  // one position without numbers
    EncoderOutput encoded;
    const auto options = parameters().front().options().requires_grad(false);
    encoded.states = torch::empty({source.size(0), 1, 0}, options);
    encoded.summary = torch::empty({source.size(0), 0}, options);
    encoded.set_lengths(torch::ones_like(lengths), 1, options.device());
    decoder_->prepare(encoded);
    return encoded;
  }
  torch::Tensor embedded;
  EncoderOutput encoded;
  if (source_input_) {
    embedded = embed(source);  // [B, S', E] for S' = ceil(S / K)
    const auto of_encoder = frame_stacking_ == 1 ? lengths : divide_up(lengths, frame_stacking_);
    encoded = encoder_->forward(source_input_->forward(embedded), of_encoder, self_attention);
  } else {
    encoded = encoder_->forward(source, lengths, self_attention);
  }
  decoder_->prepare(encoded);
  output_layer_->prepare(encoded, source, embedded);
  return encoded;
}

DecoderStep EncoderDecoder::step(const torch::Tensor& tokens, const DecoderState& state,
                                 const EncoderOutput& encoded) {
  const auto input = target_input_->step(output_layer_->embed(tokens, encoded), state);
  auto step = decoder_->step(input, state, encoded);
  step.input = input;
  step.state.set_position_after(state);
  return step;
}

AttentionDetail EncoderDecoder::explain(const torch::Tensor& tokens, const DecoderState& state,
                                        const EncoderOutput& encoded) {
  const auto input = target_input_->step(output_layer_->embed(tokens, encoded), state);
  return decoder_->explain(input, state, encoded);
}

DecoderOutput EncoderDecoder::decode(const torch::Tensor& input, const EncoderOutput& encoded,
                                     bool want_weights) {
  if (!target_input_) return decoder_->forward(input, encoded, want_weights);
  const auto embedded = target_input_->forward(output_layer_->embed(input, encoded));
  auto decoded = decoder_->forward(embedded, encoded, want_weights);
  decoded.input = embedded;
  return decoded;
}

SelfAttention EncoderDecoder::self_attention(const torch::Tensor& source,
                                             const torch::Tensor& lengths,
                                             const torch::Tensor& input) {
  SelfAttention weights;
  const auto encoded = compute_encoding(source, lengths, &weights.encoder);
  if (!target_input_) return weights;
  const auto embedded = target_input_->forward(output_layer_->embed(input, encoded));
  weights.decoder = decoder_->self_attention(embedded, encoded);
  return weights;
}

}  // namespace regard
