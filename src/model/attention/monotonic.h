// Monotonic attention (Raffel et al. 2017): a reader that moves on and never back. From the
// position of the last step it goes from one to the next and stops at each with probability p:
//
//   p_ts = sigmoid(e_ts + r), e_ts additive          α_ts = p_ts q_ts
//   q_ts = (1 − p_{t,s−1}) q_{t,s−1} + α_{t−1,s}     that it comes as far as s
//
// Training reads with the expectation α_t, for which Gaussian noise on e teaches p to be near 0
// or 1; decoding takes the first position from the last one on where p ≥ 1/2. A reader that stops
// nowhere reads nothing: the weights sum to 1 or less. It begins at the first position; r begins at
// −1.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/additive.h"

namespace regard {

class Monotonic : public Attention {
 public:
  Monotonic(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(Memory& memory) override { additive_->prepare(memory); }
  AttentionState start(const Memory& memory) override;  // alpha_0 [B, S]: the first position
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const Memory& memory) override;
  torch::Tensor scores(const torch::Tensor& query, const AttentionState& /*state*/,
                       const Memory& memory) override {
    return additive_->scores(query, {}, memory) + r_;
  }
  bool is_mixture() const override { return true; }
  bool is_distribution() const override { return false; }

 private:
  std::shared_ptr<Additive> additive_;
  torch::Tensor r_;  // []
};

}  // namespace regard
