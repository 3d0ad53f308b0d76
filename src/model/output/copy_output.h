// The pointer-generator (See, Liu, Manning 2017): a word of the vocabulary, or one copied from the
// source, whether the vocabulary has it or not.
//
//   P(y) = p_gen P_vocabulary(y) + (1 − p_gen) Σ_{s: x_s = y} α_ts
//   p_gen = σ(w_c·c_t + w_s·s_t + w_y·y_{t−1} + b)
//
// α_t is the attention (the mean over its heads), c_t = Σ_s α_ts h_s, s_t the top layer's state,
// y_{t−1} the embedded token before. Source words that the target's vocabulary lacks have the ids
// from its end, V, on, in the order in which the sentence first has them; the decoder is fed <unk>
// for them. w_c·c_t is Σ_s α_ts (w_c·h_s), and w_c·h_s is made once a sentence.
#pragma once

#include "model/linear.h"
#include "model/output/vocabulary_output.h"

namespace regard {

class CopyOutput : public VocabularyOutput {
 public:
  explicit CopyOutput(const OutputPlace& place);

  // source [B, S, 2]: the source's ids, and those that the target has for the same words.
  void prepare(Memory& memory, const torch::Tensor& source, const torch::Tensor& embedded) override;
  torch::Tensor embed(const torch::Tensor& tokens, const Memory& memory) override;
  // Label smoothing spreads ε over the V words of the vocabulary.
  Loss loss(const Decoded& decoded, const Memory& memory, const torch::Tensor& targets,
            double label_smoothing) override;
  torch::Tensor logits(const DecoderStep& step, const Memory& memory) override;
  torch::Tensor generates(const DecoderStep& step, const Memory& memory) override;  // p_gen

 private:
  // The logit of p_gen at all steps: [B, G, 1].
  torch::Tensor gate(const Decoded& decoded, const Memory& memory);
  // log P of words: of the vocabulary's, and behind them of what else the sentences have, −∞ for
  // what cannot be said. logits [B, G, V] of P_vocabulary -> [B, G, V + …].
  torch::Tensor of_all(const torch::Tensor& logits, const Decoded& decoded, const Memory& memory);
  torch::Tensor of_vocabulary(const Decoded& decoded, const Memory& memory);  // [B, G, V]
  // Σ_{s: x_s = y} α_ts of all words y: [B, G, width].
  torch::Tensor copied(std::int64_t width, const Decoded& decoded, const Memory& memory);

  Linear w_c_{nullptr};  // [1, C]
  Linear w_s_{nullptr};  // [1, D], with b
  Linear w_y_{nullptr};  // [1, E]
};

}  // namespace regard
