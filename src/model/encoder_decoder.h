// The whole model: input layers, encoder, decoder and output layer. Any encoder can be combined
// with any decoder and any output layer.
//
// A source word is embedded as a row of the embedding or, if it is a vector of numbers, as W x + b.
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
  DecoderState start(const EncoderOutput& encoded) override { return decoder_->start(encoded); }
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const EncoderOutput& encoded) override;
  AttentionDetail explain(const torch::Tensor& tokens, const DecoderState& state,
                          const EncoderOutput& encoded) override;
  Decoded decode(const torch::Tensor& input, const EncoderOutput& encoded) override;
  void at_step(std::int64_t step) override { decoder_->at_step(step); }
  bool shows_attention() const override { return decoder_->shows_attention(); }
  std::optional<LengthLimit> source_limit() const override { return source_limit_; }
  std::optional<LengthLimit> target_limit() const override { return target_limit_; }
  OutputLayer& output() override { return *output_; }

 private:
  torch::Tensor embed(const torch::Tensor& source);  // [B, S, …] -> [B, S, E]

  torch::Tensor source_embedding_;  // [V_src, E], or W [F + 1, E] for numbers
  torch::Tensor source_bias_;       // b [E], for numbers
  std::shared_ptr<Encoder> encoder_;
  std::shared_ptr<Decoder> decoder_;
  std::shared_ptr<InputLayer> source_input_;
  std::shared_ptr<InputLayer> target_input_;
  std::unique_ptr<OutputLayer> output_;
  std::optional<LengthLimit> source_limit_;
  std::optional<LengthLimit> target_limit_;
};

}  // namespace regard
