// Several models that translate together: at each step one distribution over the next token is made
// of theirs, with weights w_m that sum to 1:
//
//   log_linear   P(y) ∝ Π_m P_m(y)^{w_m}   (the weighted mean of their log-probabilities)
//   linear       P(y) = Σ_m w_m P_m(y)
//
// (as Sutskever et al. 2014 and Sennrich et al. 2016 have it). To the search an ensemble is a model
// like any other. It is not trained.
#pragma once

#include <memory>
#include <vector>

#include "model/output/output.h"
#include "model/seq2seq.h"

namespace regard {

enum class EnsembleMean { log_linear, linear };

class Ensemble : public Seq2Seq {
 public:
  // Models of the same vocabularies and kind of output. Weights above 0, one for each, of which the
  // proportions count; none is equal weights. std::invalid_argument where that is not so.
  Ensemble(std::vector<std::shared_ptr<Seq2Seq>> members, EnsembleMean mean,
           std::vector<double> weights = {});

  Memory encode(const torch::Tensor& source, const torch::Tensor& lengths) override;
  DecoderState start(const Memory& memory) override;
  // Its weights are the weighted mean of the attention of those members that have one.
  DecoderStep step(const torch::Tensor& tokens, const DecoderState& state,
                   const Memory& memory) override;
  // std::logic_error: nobody trains an ensemble.
  Decoded decode(const torch::Tensor& input, const Memory& memory) override;
  bool shows_attention() const override;
  // The least of the members'.
  std::optional<LengthLimit> source_limit() const override;
  std::optional<LengthLimit> target_limit() const override;
  Output& output() override { return output_; }

 private:
  // A step reads out log P.
  class LogProbabilities : public Output {
   public:
    torch::Tensor embed(const torch::Tensor& tokens, const Memory& memory) override;
    Loss loss(const Decoded& decoded, const Memory& memory, const torch::Tensor& targets,
              double label_smoothing) override;
    torch::Tensor logits(const DecoderStep& step, const Memory& /*memory*/) override {
      return step.readout;
    }
  };

  std::vector<std::shared_ptr<Seq2Seq>> members_;
  EnsembleMean mean_;
  std::vector<double> weights_;
  LogProbabilities output_;
};

}  // namespace regard
