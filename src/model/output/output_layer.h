// The interface of an output layer, which embeds target tokens as input of the decoder and computes
// the probability of the next token. Training and search use only this interface.
//
// To add an output layer, add a file in this folder and a case in output_factory.cpp.
#pragma once

#include <torch/types.h>

#include "model/output/loss.h"
#include "model/seq2seq.h"

namespace regard {

class OutputLayer {
 public:
  virtual ~OutputLayer() = default;

  // Precomputes the tensors that do not depend on a step and stores them in encoded.context. Called
  // once per batch of source sentences, after Decoder::prepare(). embedded is [B, S, E].
  virtual void prepare(EncoderOutput& /*encoded*/, const SourceBatch& /*source*/,
                       const torch::Tensor& /*embedded*/) {}
  // Embeds target tokens as decoder input: [N] int64 -> [N, E] in a search, where N = G · B with G
  // consecutive hypotheses per sentence; [B, T] int64 -> [B, T, E] in training.
  virtual torch::Tensor embed(const torch::Tensor& tokens, const EncoderOutput& encoded) = 0;
  // Returns the loss −Σ log P of targets [B, T] int64, without padding (0). Only the output layer
  // of a vocabulary reads LossOptions::consistency.
  virtual Loss loss(const DecoderOutput& decoded, const EncoderOutput& encoded,
                    const Targets& targets, const LossOptions& options) = 0;
  // Returns −log P(y_t | y_<t, x) [N] of the N real tokens of targets [B, T], in the order of
  // Targets::positions, differentiable, in single or double precision.
  virtual torch::Tensor target_nll(const DecoderOutput& decoded, const EncoderOutput& encoded,
                                   const Targets& targets) = 0;
  // Returns the logits [N, V] of P(y_t | y_<t, x) for a step of N hypotheses. V is the number of
  // token ids, which depends on the batch if source words or positions are among them. A logit is
  // −∞ if the sentence of the hypothesis does not have the token.
  virtual torch::Tensor logits(const DecoderStep& step, const EncoderOutput& encoded) = 0;
  // True if logits() obeys EncoderOutput::shortlist. It then returns [N, K], the logits of the
  // tokens of the shortlist.
  virtual bool supports_shortlist() const { return false; }
  // Returns log P(y_t | y_<t, x) [B, T] double of targets [B, T] int64, 0 at padding (0). In a
  // search (kernels/mode.h), has the bits of kernels::log_softmax(logits()). Not differentiable. By
  // default, calls logits() for a few steps at a time.
  virtual torch::Tensor log_probabilities(const DecoderOutput& decoded,
                                          const EncoderOutput& encoded, const Targets& targets);
  // Returns the probability [N] that a step generates a word from the vocabulary instead of copying
  // a source word, for visualisation. Undefined if the output layer does not copy.
  virtual torch::Tensor generation_probability(const DecoderStep& /*step*/,
                                               const EncoderOutput& /*encoded*/) {
    return {};
  }
};

// Reshapes one step of N = G · B hypotheses to G steps of each sentence: [N, …] -> [B, G, …].
DecoderOutput group_by_sentence(const DecoderStep& step, const EncoderOutput& encoded);

}  // namespace regard
