// What the target's tokens are to the model: how the one before is fed to the decoder, and how
// probable each is to come next. Training and search know an output by this alone.
//
// A new output is one file beside this one and one line in table.cpp.
#pragma once

#include <torch/types.h>

#include "loss/cross_entropy.h"
#include "model/seq2seq.h"

namespace regard {

class Output {
 public:
  virtual ~Output() = default;

  // Done once a sentence: adds what the output needs to a memory that is otherwise complete. source
  // as for Seq2Seq::encode, embedded [B, S, E].
  virtual void prepare(Memory& /*memory*/, const torch::Tensor& /*source*/,
                       const torch::Tensor& /*embedded*/) {}
  // The tokens before as the decoder is fed them: [N] or [B, T] int64 -> [N, E] or [B, T, E]. N = G
  // · B, G hypotheses in a row for each sentence of the memory.
  virtual torch::Tensor embed(const torch::Tensor& tokens, const Memory& memory) = 0;
  // −Σ log P of targets [B, T] int64, 0 at padding, which counts nothing.
  virtual Loss loss(const Decoded& decoded, const Memory& memory, const torch::Tensor& targets,
                    double label_smoothing) = 0;
  // The scores whose softmax is P(y_t | y_<t, x), of a step of N hypotheses: [N, V], V the tokens
  // that can be said of these sentences; −∞ for those that some of them lack.
  virtual torch::Tensor logits(const DecoderStep& step, const Memory& memory) = 0;
  // How probable it is that such a step says a word of the vocabulary, rather than copy one: [N];
  // undefined where nothing is copied. For people to read.
  virtual torch::Tensor generates(const DecoderStep& /*step*/, const Memory& /*memory*/) {
    return {};
  }
};

// A step of N = G · B hypotheses as G steps of each sentence: tensors [N, …] -> [B, G, …].
Decoded by_sentence(const DecoderStep& step, const Memory& memory);

}  // namespace regard
