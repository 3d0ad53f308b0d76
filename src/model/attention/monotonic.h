// Monotonic attention (Raffel et al. 2017): each step starts at the previous position, moves right,
// and stops at position s with probability p_ts:
//
//   p_ts = sigmoid(e_ts + r), e_ts additive          α_ts = p_ts q_ts
//   q_ts = (1 − p_{t,s−1}) q_{t,s−1} + α_{t−1,s}     the probability of reaching s
//
// The first step starts at the first position. Training uses the expected weights α_t; Gaussian
// noise added to e pushes p towards 0 or 1. Decoding selects the first position with p ≥ 1/2, from
// the previous position on. If there is none, all weights are 0, and the next step starts at the
// same position. So the sum of the weights is at most 1. r is −1 initially.
//
// The paper's energy has g v / ‖v‖ for v, with a trained scalar g, to start with small weights;
// here v is that of `additive`, without the norm.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/scores.h"

namespace regard {

class Monotonic : public Attention {
 public:
  Monotonic(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(EncoderOutput& encoded) override { additive_->prepare(encoded); }
  // Returns α_0 [B, S], which is 1 at the first position.
  AttentionState initial_state(const EncoderOutput& encoded) override;
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;
  AttentionDetail explain(const torch::Tensor& query, const AttentionState& /*state*/,
                          const EncoderOutput& encoded) override {
    return {.scores = additive_->scores(query, encoded) + r_};
  }

 private:
  std::shared_ptr<Additive> additive_;
  torch::Tensor r_;  // []
};

}  // namespace regard
