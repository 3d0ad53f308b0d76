#include "model/masked_language_model.h"

#include <stdexcept>

#include "model/output/output_factory.h"

namespace regard {

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
  return {.readout = head_->norm->forward(torch::gelu(head_->W(states)))};
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
