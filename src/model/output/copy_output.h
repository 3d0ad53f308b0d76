// The pointer-generator (See, Liu, Manning 2017): generates a token of the vocabulary or copies a
// source token, which may be out of vocabulary.
//
//   P(y) = p_gen P_vocabulary(y) + (1 − p_gen) Σ_{s: x_s = y} α_ts
//   p_gen = σ(w_c·c_t + w_s·s_t + w_y·y_{t−1} + b)
//
// α_t are the attention weights (the mean over the heads), c_t = Σ_s α_ts h_s is the context, s_t
// the state of the top layer, and y_{t−1} the input of the decoder (model/input_layer.h): the
// embedding of the last token, of width E, or in a Transformer with its position, of width D.
// Source tokens outside the target vocabulary have the extended ids V, V + 1, … in the order of
// their first occurrence in the sentence, so that different sentences use these ids for different
// tokens. Training may replace some of these tokens (data/hallucination.h). The decoder reads <unk>
// for them. w_c·c_t is computed as Σ_s α_ts (w_c·h_s), where w_c·h_s is computed once per sentence.
#pragma once

#include "kernels/copy_mixture.h"
#include "model/layers.h"
#include "model/output/vocabulary_output.h"

namespace regard {

class CopyOutputLayer : public VocabularyOutputLayer {
 public:
  explicit CopyOutputLayer(const OutputLayerConfig& config);

  // The source must hold CopyIds.
  void prepare(EncoderOutput& encoded, const SourceBatch& source,
               const torch::Tensor& embedded) override;
  torch::Tensor embed(const torch::Tensor& tokens, const EncoderOutput& encoded) override;
  // Label smoothing distributes ε over the V words of the vocabulary.
  Loss loss(const DecoderOutput& decoded, const EncoderOutput& encoded, const Targets& targets,
            const LossOptions& options) override;
  torch::Tensor target_nll(const DecoderOutput& decoded, const EncoderOutput& encoded,
                           const Targets& targets) override;
  // Returns log P, already normalised.
  torch::Tensor logits(const DecoderStep& step, const EncoderOutput& encoded) override;
  bool supports_shortlist() const override { return false; }
  // The base class would ignore copies.
  torch::Tensor log_probabilities(const DecoderOutput& decoded, const EncoderOutput& encoded,
                                  const Targets& targets) override {
    return OutputLayer::log_probabilities(  // NOLINT(bugprone-parent-virtual-call)
        decoded, encoded, targets);
  }
  torch::Tensor generation_probability(const DecoderStep& step,
                                       const EncoderOutput& encoded) override;

 private:
  // Return tensors that prepare() stored: the target ids, including extended ids, of the source
  // tokens [B, S] int64, and w_c·h_s [B, S, 1].
  const torch::Tensor& copy_ids(const EncoderOutput& encoded) const {
    return encoded.context.at(this)[0];
  }
  const torch::Tensor& gate_scores(const EncoderOutput& encoded) const {
    return encoded.context.at(this)[1];
  }
  // In the shapes below, G is the number of steps of a sentence: its T target tokens in training,
  // its hypotheses in a search.

  // Returns the logit of p_gen [B, G, 1].
  torch::Tensor gate(const DecoderOutput& decoded, const EncoderOutput& encoded);
  // Maps logits [B, G, V] of P_vocabulary to log P of the vocabulary and of the extended ids,
  // [B, G, V + S]; a sentence has at most S extended ids. log P is −∞ for the extended ids that a
  // sentence does not have.
  torch::Tensor extended_log_p(const torch::Tensor& logits, const DecoderOutput& decoded,
                               const EncoderOutput& encoded);
  // Returns the gates, attention weights and source ids of the rows of the targets.
  kernels::Copies copies(const DecoderOutput& decoded, const EncoderOutput& encoded,
                         const Targets& targets);

  Linear w_c_{nullptr};  // [1, C]
  Linear w_s_{nullptr};  // [1, D], with b
  Linear w_y_{nullptr};  // [1, E], or [1, D] for a Transformer
};

}  // namespace regard
