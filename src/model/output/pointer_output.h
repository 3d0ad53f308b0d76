// The pointer network (Vinyals, Fortunato, Jaitly 2015): target tokens are source positions.
//
//   u_ts = vᵀ tanh(W_1 h_s + W_2 s_t)      P(y_t = s | y_<t, x) = softmax_s(u_ts)
//
// s_t is the state of the top layer. Position p, counted from 0, has the token id 4 + p, after the
// special tokens; only the last position, of the source's </s>, has the id of </s> instead. The
// input of the decoder is the embedding of the source element that the previous step selected; at
// the first step, it is a trained vector.
#pragma once

#include "model/attention/scores.h"
#include "model/output/output_factory.h"
#include "model/output/output_layer.h"

namespace regard {

class PointerOutputLayer : public OutputLayer {
 public:
  explicit PointerOutputLayer(const OutputLayerConfig& config);

  void prepare(EncoderOutput& encoded, const SourceBatch& source,
               const torch::Tensor& embedded) override;
  torch::Tensor embed(const torch::Tensor& tokens, const EncoderOutput& encoded) override;
  // Label smoothing distributes ε over the positions of the sentence.
  Loss loss(const DecoderOutput& decoded, const EncoderOutput& encoded, const Targets& targets,
            const LossOptions& options) override;
  torch::Tensor target_nll(const DecoderOutput& decoded, const EncoderOutput& encoded,
                           const Targets& targets) override;
  torch::Tensor logits(const DecoderStep& step, const EncoderOutput& encoded) override;

 private:
  // Returns u_t as logits of tokens: hidden [B, G, D] -> [B, G, 4 + S], −∞ outside the sentence.
  torch::Tensor scores(const torch::Tensor& hidden, const EncoderOutput& encoded) const;

  torch::Tensor begin_;                // [E], the input of the first step
  std::shared_ptr<Additive> pointer_;  // v, W_1, W_2
};

}  // namespace regard
