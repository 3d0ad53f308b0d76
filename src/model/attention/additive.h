// Additive attention (Bahdanau, Cho, Bengio 2015, equation of section A.1.2):
//
//   e_ts = vᵀ tanh(W s_{t−1} + U h_s + b)
//
// W s + U h = [W U][s; h], so this is also the MLP or concat score under the same query.
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/linear.h"

namespace regard {

class Additive : public ScoreAttention {
 public:
  Additive(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  std::optional<kernels::AttentionScore> kernel_score(const Memory& memory) override;
  torch::Tensor keys(const torch::Tensor& states) override;

 private:
  Linear W_{nullptr};  // [A, D]
  Linear U_{nullptr};  // [A, C], with b
  torch::Tensor v_;    // [A]
};

}  // namespace regard
