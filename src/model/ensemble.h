// An ensemble of models. Each step combines the distributions of the members over the next token,
// with weights w_m, which sum to 1 but for the last one:
//
//   log_linear   P(y) ∝ Π_m P_m(y)^{w_m}   (the weighted mean of their log-probabilities)
//   linear       P(y) = Σ_m w_m P_m(y)
//   fusion       P(y) ∝ Π_m P_m(y)^{w_m}   with the weights as they are given
//
// (Sutskever et al. 2014, Sennrich et al. 2016). The last one is shallow fusion of a translation
// model, with weight 1, and a language model (Gülçehre et al. 2015), normalised at each step. If
// the search begins with a target tag, a language model that was trained without tags begins with a
// token of its own. The search treats an ensemble like any other model. It cannot be trained.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/output/output_layer.h"
#include "model/seq2seq.h"

namespace regard {

enum class EnsembleMean { log_linear, linear, fusion };

class Ensemble : public Seq2Seq {
 public:
  // The members must have the same vocabularies and kind of output layer. `weights` has one weight
  // above 0 for each member, or is empty for equal weights; the constructor divides the weights by
  // their sum, except for `fusion`. The last member begins with `last_members_first`, if given, in
  // place of the first target token. Throws std::invalid_argument if there are no members, or for
  // other weights.
  Ensemble(std::vector<std::shared_ptr<Seq2Seq>> members, EnsembleMean mean,
           std::vector<double> weights = {},
           std::optional<std::int64_t> last_members_first = std::nullopt);
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  EncoderOutput encode(const SourceBatch& source) override;
  DecoderState initial_state(const EncoderOutput& encoded) override;
  // The attention weights are the weighted mean over the members that have attention.
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const EncoderOutput& encoded, bool want_weights = true) override;
  DecoderOutput decode(const torch::Tensor& input, const EncoderOutput& encoded,
                       bool want_weights = false) override;
  bool has_attention_weights() const override;
  // Return the smallest limit of the members, or nothing if no member has one.
  std::optional<LengthLimit> source_limit() const override;
  std::optional<LengthLimit> target_limit() const override;
  OutputLayer& output_layer() override { return output_layer_; }

 private:
  // Combines the distributions of the members. Its logits are log P, with log_linear up to a
  // constant for each row.
  class MeanOutputLayer : public OutputLayer {
   public:
    // The ensemble must outlive this object.
    explicit MeanOutputLayer(const Ensemble& ensemble) : ensemble_(ensemble) {}

    // Throw std::logic_error: an ensemble cannot be trained.
    torch::Tensor embed(const torch::Tensor& tokens, const EncoderOutput& encoded) override;
    Loss loss(const DecoderOutput& decoded, const EncoderOutput& encoded, const Targets& targets,
              const LossOptions& options) override;
    torch::Tensor target_nll(const DecoderOutput& decoded, const EncoderOutput& encoded,
                             const Targets& targets) override;
    torch::Tensor logits(const DecoderStep& step, const EncoderOutput& encoded) override;
    bool supports_shortlist() const override;

   private:
    const Ensemble& ensemble_;
  };

  // Returns the weighted mean of the attention weights of the steps or outputs of the members.
  // Undefined if none has attention.
  template <typename Parts>
  torch::Tensor mean_attention(const Parts& parts) const;
  // Returns the tokens [N] that member m reads at a step.
  torch::Tensor tokens_of(std::size_t m, const torch::Tensor& tokens,
                          const DecoderState& state) const;

  std::vector<std::shared_ptr<Seq2Seq>> members_;
  EnsembleMean mean_;
  std::vector<double> weights_;
  std::optional<std::int64_t> last_members_first_;
  MeanOutputLayer output_layer_{*this};
};

}  // namespace regard
