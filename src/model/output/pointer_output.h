// The pointer network (Vinyals, Fortunato, Jaitly 2015): a position of the source is what is said.
//
//   u_ts = vᵀ tanh(W_1 h_s + W_2 s_t)      P(y_t = s | y_<t, x) = softmax_s(u_ts)
//
// s_t is the top layer's state. The position of the source's </s> stands for stop; position p
// (counted from 0) is the token 4 + p, behind the special ones. The decoder is fed the embedding of
// the source element last pointed at, and before the first a vector of its own.
#pragma once

#include "model/attention/additive.h"
#include "model/output/output.h"
#include "model/output/table.h"

namespace regard {

class PointerOutput : public Output {
 public:
  explicit PointerOutput(const OutputPlace& place);

  void prepare(Memory& memory, const torch::Tensor& source, const torch::Tensor& embedded) override;
  torch::Tensor embed(const torch::Tensor& tokens, const Memory& memory) override;
  // Label smoothing spreads ε over the sentence's own positions.
  Loss loss(const Decoded& decoded, const Memory& memory, const torch::Tensor& targets,
            double label_smoothing) override;
  torch::Tensor logits(const DecoderStep& step, const Memory& memory) override;

 private:
  // u_t as scores of tokens: top [B, G, D] -> [B, G, 4 + S], −∞ for what the sentence has not.
  torch::Tensor scores(const torch::Tensor& top, const Memory& memory) const;

  torch::Tensor begin_;                // [E]
  std::shared_ptr<Additive> pointer_;  // v, W_1, W_2
};

}  // namespace regard
