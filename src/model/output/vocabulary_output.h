// A token of the vocabulary:
//
//   P(y_t | y_<t, x) = softmax(W readout_t + b)
//
// W may be the target embedding (Press and Wolf 2017).
#pragma once

#include "model/output/output.h"
#include "model/output/table.h"

namespace regard {

class VocabularyOutput : public Output {
 public:
  explicit VocabularyOutput(const OutputPlace& place);

  torch::Tensor embed(const torch::Tensor& tokens, const Memory& memory) override;
  Loss loss(const Decoded& decoded, const Memory& memory, const torch::Tensor& targets,
            double label_smoothing) override;
  torch::Tensor logits(const DecoderStep& step, const Memory& memory) override;

 protected:
  torch::Tensor embedding_;  // [V, E]; the source's where all are tied
  torch::Tensor W_;          // [V, R]; the embedding where tied
  torch::Tensor b_;          // [V]
};

}  // namespace regard
