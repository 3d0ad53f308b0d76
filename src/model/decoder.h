// The interface of a decoder: maps the embedded target tokens so far and the encoder output to a
// readout, from which the output layer predicts the next token.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "model/seq2seq.h"

namespace regard {

class Decoder : public torch::nn::Module {
 public:
  // Precomputes the tensors that do not depend on a step and stores them in encoded.context. Must
  // be called once per batch of source sentences, before the functions below.
  virtual void prepare(EncoderOutput& encoded) = 0;
  // Returns the state before the first step, one row per sentence.
  virtual DecoderState initial_state(const EncoderOutput& encoded) = 0;
  // Runs one step. embedded [N, E] is the last token of each hypothesis. See Seq2Seq::step().
  virtual DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                           const EncoderOutput& encoded, bool want_weights = true) = 0;
  // See Seq2Seq::explain().
  virtual AttentionDetail explain(const torch::Tensor& /*embedded*/, const DecoderState& /*state*/,
                                  const EncoderOutput& /*encoded*/) {
    return {};
  }
  // Runs all steps with the given target as history, embedded [B, T, E]. See Seq2Seq::decode().
  virtual DecoderOutput forward(const torch::Tensor& embedded, const EncoderOutput& encoded,
                                bool want_weights = false) = 0;
  // Returns SelfAttention::decoder for the arguments of forward(). Empty without self-attention.
  virtual std::vector<torch::Tensor> self_attention(const torch::Tensor& /*embedded*/,
                                                    const EncoderOutput& /*encoded*/) {
    return {};
  }
  // See Seq2Seq.
  virtual void set_training_step(std::int64_t /*step*/) {}
  virtual bool has_attention_weights() const = 0;
  // Returns the width R of a readout.
  virtual std::int64_t readout_size() const = 0;
};

}  // namespace regard
