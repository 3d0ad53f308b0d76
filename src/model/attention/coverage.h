// Coverage (Tu et al. 2016, section 3): additive attention that also reads how much weight each
// position has received so far.
//
//   C_ts = C_{t−1,s} + α_ts / Φ_s, C_0 = 0      Φ_s = N sigmoid(u · h_s + b_Φ)
//   e_ts = vᵀ tanh(W q_t + U h_s + b + w C_{t−1,s})      q_t is the query
//
// The fertility Φ_s < N is the number of steps that are expected to attend to a position. N is
// model.attention.fertility, and λ below is model.attention.coverage_loss. In training, a penalty
// for repeated attention can be added, which does not depend on the fertility (See, Liu, Manning
// 2017, equations 10 and 12):
//
//   penalty_t = λ Σ_s min(α_ts, Σ_{t' < t} α_t's)
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/scores.h"
#include "model/layers.h"

namespace regard {

class Coverage : public Attention {
 public:
  Coverage(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(EncoderOutput& encoded) override { additive_->prepare(encoded); }
  // Returns C_0 and 1 / Φ, each [B, S].
  AttentionState initial_state(const EncoderOutput& encoded) override;
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;
  AttentionDetail explain(const torch::Tensor& query, const AttentionState& state,
                          const EncoderOutput& encoded) override;

 private:
  // Returns the score function for N queries, given the coverage C_{t−1} [N, S] of each query.
  kernels::AttentionScore score_with_coverage(const torch::Tensor& coverage,
                                              const EncoderOutput& encoded) const;

  double N_;       // maximum fertility
  double lambda_;  // weight of the penalty
  std::shared_ptr<Additive> additive_;
  Linear fertility_{nullptr};  // u, b_Φ
  torch::Tensor w_;            // [A]
};

}  // namespace regard
