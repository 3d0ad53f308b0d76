// The whole translator: input layers, encoder, decoder, output. Any encoder goes with any decoder
// and any output.
//
// A source word is a row of the embedding, or, where it is a vector of numbers, W x + b.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/decoder.h"
#include "model/encoder.h"
#include "model/input_layer.h"
#include "model/output/output.h"
#include "model/seq2seq.h"

namespace regard {

class EncoderDecoder : public Seq2Seq {
 public:
  EncoderDecoder(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                 const ModelOptions& options);

  Memory encode(const torch::Tensor& source, const torch::Tensor& lengths) override;
  DecoderState start(const Memory& memory) override { return decoder_->start(memory); }
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const Memory& memory) override;
  AttentionDetail explain(const torch::Tensor& tokens, const DecoderState& state,
                          const Memory& memory) override;
  Decoded decode(const torch::Tensor& input, const Memory& memory) override;
  void at_step(std::int64_t step) override { decoder_->at_step(step); }
  bool shows_attention() const override { return decoder_->shows_attention(); }
  std::optional<LengthLimit> source_limit() const override { return source_limit_; }
  std::optional<LengthLimit> target_limit() const override { return target_limit_; }
  Output& output() override { return *output_; }

 private:
  torch::Tensor embed(const torch::Tensor& source);  // [B, S, …] -> [B, S, E]

  torch::Tensor source_embedding_;  // [V_src, E], or W [F + 1, E] of numbers
  torch::Tensor source_bias_;       // b [E], of numbers
  std::shared_ptr<Encoder> encoder_;
  std::shared_ptr<Decoder> decoder_;
  std::shared_ptr<InputLayer> source_input_;
  std::shared_ptr<InputLayer> target_input_;
  std::unique_ptr<Output> output_;
  std::optional<LengthLimit> source_limit_;
  std::optional<LengthLimit> target_limit_;
};

}  // namespace regard
