// The whole translator: input layers, encoder, decoder, output layer. Any encoder goes with any
// decoder.
//
//   P(y_t | y_<t, x) = softmax(V readout_t + b)
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/decoder.h"
#include "model/encoder.h"
#include "model/input_layer.h"
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
  OutputLayer output_layer() override { return {output_weight_, output_bias_}; }

 private:
  torch::Tensor source_embedding_;  // [V_src, E]
  torch::Tensor target_embedding_;  // [V_trg, E]; the source's where all are tied
  torch::Tensor output_weight_;     // [V_trg, R]; the target embedding where tied
  torch::Tensor output_bias_;       // [V_trg]
  std::shared_ptr<Encoder> encoder_;
  std::shared_ptr<Decoder> decoder_;
  std::shared_ptr<InputLayer> source_input_;
  std::shared_ptr<InputLayer> target_input_;
};

}  // namespace regard
