// The part that models with a decoder have in common: they write a target token by token, with or
// without a source.
#pragma once

#include <memory>
#include <optional>

#include "config/model_options.h"
#include "model/decoder.h"
#include "model/input_layer.h"
#include "model/output/output_layer.h"
#include "model/seq2seq.h"

namespace regard {

class Generator : public Seq2Seq {
 public:
  DecoderState initial_state(const EncoderOutput& encoded) override {
    return decoder_->initial_state(encoded);
  }
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const EncoderOutput& encoded, bool want_weights = true) override;
  AttentionDetail explain(const torch::Tensor& tokens, const DecoderState& state,
                          const EncoderOutput& encoded) override;
  DecoderOutput decode(const torch::Tensor& input, const EncoderOutput& encoded,
                       bool want_weights = false) override;
  void set_training_step(std::int64_t step) override { decoder_->set_training_step(step); }
  bool has_attention_weights() const override { return decoder_->has_attention_weights(); }
  std::optional<LengthLimit> target_limit() const override { return target_limit_; }
  OutputLayer& output_layer() override { return *output_layer_; }

 protected:
  Generator(std::shared_ptr<Decoder> decoder, const ModelOptions& options);

  // Returns SelfAttention::decoder for input [B, T]; empty for a recurrent decoder.
  std::vector<torch::Tensor> decoder_self_attention(const torch::Tensor& input,
                                                    const EncoderOutput& encoded);

  std::shared_ptr<Decoder> decoder_;
  // Created and registered by the derived class, whose draws come in between (source_encoder.h).
  std::shared_ptr<InputLayer> target_input_;
  std::unique_ptr<OutputLayer> output_layer_;

 private:
  bool has_self_attention_;
  std::optional<LengthLimit> target_limit_;
};

}  // namespace regard
