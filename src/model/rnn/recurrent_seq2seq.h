// The whole recurrent translator: embeddings, encoder, attention decoder, output layer.
//
//   P(y_t | y_<t, x) = softmax(V readout_t + b)
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/dropout.h"
#include "model/rnn/decoder.h"
#include "model/rnn/encoder.h"
#include "model/seq2seq.h"

namespace regard {

class RecurrentSeq2Seq : public Seq2Seq {
 public:
  RecurrentSeq2Seq(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                   const ModelOptions& options);

  Memory encode(const torch::Tensor& source, const torch::Tensor& lengths) override;
  DecoderState start(const Memory& memory) override { return decoder_->start(memory); }
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const Memory& memory) override;
  torch::Tensor decode(const torch::Tensor& input, const Memory& memory) override;
  OutputLayer output_layer() override { return {output_weight_, output_bias_}; }

 private:
  torch::Tensor source_embedding_;  // [V_src, E]
  torch::Tensor target_embedding_;  // [V_trg, E]; the source's where all are tied
  torch::Tensor output_weight_;     // [V_trg, R]; the target embedding where tied
  torch::Tensor output_bias_;       // [V_trg]
  std::shared_ptr<RecurrentEncoder> encoder_;
  std::shared_ptr<AttentionDecoder> decoder_;
  std::shared_ptr<Dropout> embedding_dropout_;
};

}  // namespace regard
