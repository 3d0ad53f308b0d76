// A softmax over the vocabulary:
//
//   P(y_t | y_<t, x) = softmax(W readout_t + b)
//
// W can be tied to the target embedding (Press and Wolf 2017), if the readout has the width of the
// embedding.
#pragma once

#include "model/output/output_factory.h"
#include "model/output/output_layer.h"

namespace regard {

class VocabularyOutputLayer : public OutputLayer {
 public:
  explicit VocabularyOutputLayer(const OutputLayerConfig& config);

  torch::Tensor embed(const torch::Tensor& tokens, const EncoderOutput& encoded) override;
  Loss loss(const DecoderOutput& decoded, const EncoderOutput& encoded, const Targets& targets,
            const LossOptions& options) override;
  torch::Tensor target_nll(const DecoderOutput& decoded, const EncoderOutput& encoded,
                           const Targets& targets) override;
  torch::Tensor logits(const DecoderStep& step, const EncoderOutput& encoded) override;
  bool supports_shortlist() const override { return true; }
  // Computes logits at real positions only.
  torch::Tensor log_probabilities(const DecoderOutput& decoded, const EncoderOutput& encoded,
                                  const Targets& targets) override;

 protected:
  torch::Tensor embedding_;  // [V, E]; also the source embedding if all embeddings are tied
  torch::Tensor W_;          // [V, R]; the same tensor as embedding_ if tied
  torch::Tensor b_;          // [V]
};

}  // namespace regard
