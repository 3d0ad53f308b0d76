// The whole model: input layers, encoder, decoder and output layer. Any encoder can be combined
// with any decoder and any output layer. A language model has no encoder, and a masked language
// model has a MaskedHead (masked_head.h) in the place of the decoder.
//
// The embedding of a source word is a row of the embedding matrix or, if the word is a vector x of
// F numbers (F = model.encoder.numbers), W x + b. The frames of a source of features are such
// vectors; with model.encoder.frame_stacking K, x is the concatenation of K consecutive frames. A
// convolutional encoder reads images, which are not embedded.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/decoder.h"
#include "model/encoder.h"
#include "model/input_layer.h"
#include "model/output/output_layer.h"
#include "model/seq2seq.h"

namespace regard {

class EncoderDecoder : public Seq2Seq {
 public:
  EncoderDecoder(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                 const ModelOptions& options);

  EncoderOutput encode(const torch::Tensor& source, const torch::Tensor& lengths) override;
  DecoderState initial_state(const EncoderOutput& encoded) override {
    return decoder_->initial_state(encoded);
  }
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const EncoderOutput& encoded) override;
  AttentionDetail explain(const torch::Tensor& tokens, const DecoderState& state,
                          const EncoderOutput& encoded) override;
  DecoderOutput decode(const torch::Tensor& input, const EncoderOutput& encoded,
                       bool want_weights = false) override;
  SelfAttention self_attention(const torch::Tensor& source, const torch::Tensor& lengths,
                               const torch::Tensor& input) override;
  void set_training_step(std::int64_t step) override { decoder_->set_training_step(step); }
  bool has_attention_weights() const override { return decoder_->has_attention_weights(); }
  std::optional<LengthLimit> source_limit() const override { return source_limit_; }
  std::optional<LengthLimit> target_limit() const override { return target_limit_; }
  OutputLayer& output_layer() override { return *output_layer_; }

 private:
  torch::Tensor embed(const torch::Tensor& source);  // [B, S, …] -> [B, ceil(S / K), E]
  // Implements encode(). Appends the weights of the layers to `self_attention`, unless it is null.
  EncoderOutput compute_encoding(const torch::Tensor& source, const torch::Tensor& lengths,
                                 std::vector<torch::Tensor>* self_attention);

  // Undefined or null in a language model: source_embedding_, encoder_ and source_input_. With a
  // convolutional encoder: source_embedding_ and source_input_.

  std::int64_t frame_stacking_;  // K
  // [V_src, E] for source vocabulary size V_src. For numbers, W [K (F + 1), E]: the last element of
  // a frame is 1 at </s> and 0 elsewhere (Batch::source).
  torch::Tensor source_embedding_;
  torch::Tensor source_bias_;  // b [E] for numbers, otherwise undefined
  std::shared_ptr<Encoder> encoder_;
  std::shared_ptr<Decoder> decoder_;
  std::shared_ptr<InputLayer> source_input_;
  std::shared_ptr<InputLayer> target_input_;  // null in a masked language model
  std::unique_ptr<OutputLayer> output_layer_;
  std::optional<LengthLimit> source_limit_;
  std::optional<LengthLimit> target_limit_;
};

}  // namespace regard
