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
  // Stores the result of Seq2Seq::explain() in `detail`, unless it is null.
  virtual DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                           const EncoderOutput& encoded, bool want_weights = true,
                           AttentionDetail* detail = nullptr) = 0;
  // Runs all steps with the given target as history, embedded [B, T, E]. See Seq2Seq::decode().
  // Appends the weights of each layer's self-attention (SelfAttention::decoder) to
  // `self_attention`, unless it is null.
  virtual DecoderOutput forward(const torch::Tensor& embedded, const EncoderOutput& encoded,
                                bool want_weights = false,
                                std::vector<torch::Tensor>* self_attention = nullptr) = 0;
  // See Seq2Seq.
  virtual void set_training_step(std::int64_t /*step*/) {}
  virtual bool has_attention_weights() const = 0;
  // Returns the width R of a readout.
  virtual std::int64_t readout_size() const = 0;
};

}  // namespace regard
