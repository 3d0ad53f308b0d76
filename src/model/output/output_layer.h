// The interface of an output layer, which embeds target tokens as input of the decoder and computes
// the probability of the next token. Training and search use only this interface.
//
// A new output layer is one file beside this one and one line in table.cpp.
#pragma once

#include <torch/types.h>

#include "model/output/loss.h"
#include "model/seq2seq.h"

namespace regard {

class OutputLayer {
 public:
  virtual ~OutputLayer() = default;

  // Called once per batch of sources, after Decoder::prepare: stores in encoded.context what does
  // not depend on a step. source as for Seq2Seq::encode; embedded [B, S, E].
  virtual void prepare(EncoderOutput& /*encoded*/, const torch::Tensor& /*source*/,
                       const torch::Tensor& /*embedded*/) {}
  // The decoder's input for target tokens: [N] or [B, T] int64 -> [N, E] or [B, T, E]. N = G · B, G
  // consecutive hypotheses per sentence.
  virtual torch::Tensor embed(const torch::Tensor& tokens, const EncoderOutput& encoded) = 0;
  // −Σ log P of targets [B, T] int64, without padding (0).
  virtual Loss loss(const DecoderOutput& decoded, const EncoderOutput& encoded,
                    const torch::Tensor& targets, double label_smoothing) = 0;
  // The scores [N, V] whose softmax is P(y_t | y_<t, x), for a step of N hypotheses. V counts the
  // tokens possible for any of the sentences; the score is −∞ if a sentence does not have a token.
  virtual torch::Tensor logits(const DecoderStep& step, const EncoderOutput& encoded) = 0;
  // The probability [N] that a step generates a word from the vocabulary instead of copying one.
  // Undefined if the output layer does not copy. For people to read.
  virtual torch::Tensor generates(const DecoderStep& /*step*/, const EncoderOutput& /*encoded*/) {
    return {};
  }
};

// Views a step of N = G · B hypotheses as G steps of each sentence: [N, …] -> [B, G, …].
DecoderOutput group_by_sentence(const DecoderStep& step, const EncoderOutput& encoded);

}  // namespace regard
