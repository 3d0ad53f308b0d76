// Multi-head attention over the states of a recurrent encoder (Vaswani et al. 2017, section 3.2.2):
//
//   head_i = softmax_s(q_i · k_is / √d) v_is      c_t = W_O [head_1; …; head_H] + b_O
//
// q = W_Q s_t + b_Q, k_s = W_K h_s + b_K and v_s = W_V h_s + b_V, each split into H parts of width
// d = size / H, where size is model.attention.size and H is model.attention.heads. The weights of a
// step are the mean over the heads. Dropout is applied to the weights of each head.
#pragma once

#include "config/model_options.h"
#include "kernels/multi_head.h"
#include "model/attention/attention.h"
#include "model/layers.h"

namespace regard {

class MultiHead : public Attention {
 public:
  // Throws ConfigError if the size is not a multiple of the number of heads.
  MultiHead(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options,
            double dropout);

  void prepare(EncoderOutput& encoded) override;  // stores keys and values by head, padding bias
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;
  AttentionDetail explain(const torch::Tensor& query, const AttentionState& state,
                          const EncoderOutput& encoded) override;

 private:
  kernels::HeadsOutput attend(const torch::Tensor& query, const EncoderOutput& encoded);

  std::int64_t heads_;
  std::shared_ptr<Dropout> dropout_;
  Linear W_Q_{nullptr};  // [A, D]
  Linear W_K_{nullptr};  // [A, C]
  Linear W_V_{nullptr};  // [A, C]
  Linear W_O_{nullptr};  // [C, A]
};

}  // namespace regard
