// The interface of a decoder, which produces target sentences.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>

#include "model/seq2seq.h"

namespace regard {

class Decoder : public torch::nn::Module {
 public:
  // Called once per batch of sources: stores in encoded.context what does not depend on a step.
  virtual void prepare(EncoderOutput& encoded) = 0;
  // The state before the first step, one row per sentence.
  virtual DecoderState initial_state(const EncoderOutput& encoded) = 0;
  // embedded [N, E], the last token of each hypothesis.
  virtual DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                           const EncoderOutput& encoded) = 0;
  // As in Seq2Seq.
  virtual AttentionDetail explain(const torch::Tensor& /*embedded*/, const DecoderState& /*state*/,
                                  const EncoderOutput& /*encoded*/) {
    return {};
  }
  // All steps with the given target: embedded [B, T, E].
  virtual DecoderOutput forward(const torch::Tensor& embedded, const EncoderOutput& encoded) = 0;
  virtual void set_training_step(std::int64_t /*step*/) {}
  virtual bool has_attention_weights() const = 0;
  // The width R of a readout.
  virtual std::int64_t readout_size() const = 0;
};

}  // namespace regard
