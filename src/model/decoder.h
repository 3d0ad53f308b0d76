// Writes target sentences: what every decoder is to the rest of the model.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>

#include "model/seq2seq.h"

namespace regard {

class Decoder : public torch::nn::Module {
 public:
  // Done once a sentence: completes a memory that has values, mask, lengths and summary.
  virtual void prepare(Memory& memory) = 0;
  // Before the first step, a row for each sentence.
  virtual DecoderState start(const Memory& memory) = 0;
  // embedded [N, E], the tokens before.
  virtual DecoderStep step(const torch::Tensor& embedded, const DecoderState& state,
                           const Memory& memory) = 0;
  // As in Seq2Seq.
  virtual AttentionDetail explain(const torch::Tensor& /*embedded*/, const DecoderState& /*state*/,
                                  const Memory& /*memory*/) {
    return {};
  }
  // All steps with a given history: embedded [B, T, E].
  virtual Decoded forward(const torch::Tensor& embedded, const Memory& memory) = 0;
  virtual void at_step(std::int64_t /*step*/) {}
  virtual bool shows_attention() const = 0;
  // The width R of a readout.
  virtual std::int64_t readout_size() const = 0;
};

}  // namespace regard
