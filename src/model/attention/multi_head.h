// Multi-head attention over the recurrent states (Vaswani et al. 2017, section 3.2.2):
//
//   head_i = softmax_s(q_i · k_is / √d) v_is      c_t = W_O [head_1; …; head_H] + b_O
//
// q = W_Q s_t + b_Q, k_s = W_K h_s + b_K and v_s = W_V h_s + b_V, each in H parts. Each head is d =
// size / H wide. The weights that are shown are the mean over the heads; dropout of the weights is
// each head's own.
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/dropout.h"
#include "model/linear.h"

namespace regard {

class MultiHead : public Attention {
 public:
  // ConfigError where the size is no multiple of the heads.
  MultiHead(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(Memory& memory) override;
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const Memory& memory) override;
  torch::Tensor heads(const torch::Tensor& query, const Memory& memory) override;
  bool is_distribution() const override { return true; }

 private:
  // Of each head, for the G queries of each sentence: [B, H, G, S].
  torch::Tensor weights(const torch::Tensor& query, const Memory& memory);

  std::int64_t heads_;
  std::shared_ptr<Dropout> dropout_;
  Linear W_Q_{nullptr};  // [A, D]
  Linear W_K_{nullptr};  // [A, C]
  Linear W_V_{nullptr};  // [A, C]
  Linear W_O_{nullptr};  // [C, A]
};

}  // namespace regard
