#include "model/source_encoder.h"

#include <tuple>

#include "kernels/gradient_factors.h"
#include "kernels/linear.h"
#include "model/attention/table.h"
#include "model/convolutional_encoder.h"
#include "model/initialisation.h"
#include "model/rnn/encoder.h"
#include "model/transformer/encoder.h"

namespace regard {
namespace {

std::shared_ptr<Encoder> make_encoder(const ModelOptions& options) {
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

// Concatenates K consecutive frames: [B, S, F] -> [B, ceil(S / K), K F], with zeros at the end.
torch::Tensor stack_frames(const torch::Tensor& frames, std::int64_t K) {
  if (K == 1) return frames;
  const auto [B, S, F] = std::tuple(frames.size(0), frames.size(1), frames.size(2));
  const auto stacked = (S + K - 1) / K;
  return torch::constant_pad_nd(frames, {0, 0, 0, stacked * K - S}).reshape({B, stacked, K * F});
}

}  // namespace

SourceEncoder::SourceEncoder(const ModelOptions& options)
    : frame_stacking_(options.encoder.frame_stacking), encoder_(make_encoder(options)) {}

void SourceEncoder::add_input(const ModelOptions& options) {
  if (options.encoder.kind == EncoderKind::convolutional) return;
  input_ = make_input(options.encoder, options.dropout, "model.encoder");
}

void SourceEncoder::add_embedding(torch::nn::Module& model, std::int64_t vocabulary,
                                  const ModelOptions& options) {
  if (!input_) return;
  const auto F = options.encoder.numbers;
  const auto E = options.encoder.embedding_dim;
  const auto rows = F > 0 ? frame_stacking_ * (F + 1) : vocabulary;
  embedding_ = model.register_parameter("source_embedding", torch::empty({rows, E}));
  embedding_normal(embedding_);
  if (F > 0) bias_ = model.register_parameter("source_bias", torch::zeros({E}));
}

torch::Tensor SourceEncoder::embed(const SourceBatch& source) {
  if (bias_.defined()) {
    const auto numbers = stack_frames(source.elements().to(bias_.dtype()), frame_stacking_);
    return kernels::product(numbers, embedding_) + bias_;
  }
  return kernels::embedding(embedding_, source.elements());
}

SourceEncoder::Encoded SourceEncoder::encode(const SourceBatch& source,
                                             std::vector<torch::Tensor>* self_attention) {
  const auto& lengths = source.lengths;
  if (!input_) return {encoder_->forward(source.elements(), lengths, self_attention), {}};
  const auto embedded = embed(source);
  const auto of_encoder = frame_stacking_ == 1 ? lengths : divide_up(lengths, frame_stacking_);
  return {encoder_->forward(input_->forward(embedded), of_encoder, self_attention), embedded};
}

std::optional<LengthLimit> source_limit_of(const ModelOptions& o) {
  std::optional<LengthLimit> limit;
  // An image has exactly model.encoder.image_height frames.
  const bool reads_images = o.encoder.kind == EncoderKind::convolutional;
  if (reads_images) return limit;
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

}  // namespace regard
