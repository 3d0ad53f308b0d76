// Coverage (Tu et al. 2016, section 3): additive attention that is told how much of each position
// has been looked at.
//
//   C_ts = C_{t−1,s} + α_ts / Φ_s, C_0 = 0      Φ_s = N sigmoid(u · h_s + b)
//   e_ts = vᵀ tanh(W s + U h_s + b + w C_{t−1,s})
//
// The fertility Φ_s < N is how many steps a position is expected to take. In training, what is
// looked at again can be charged for, whatever the fertility (See, Liu, Manning 2017, equations 10
// and 12):
//
//   penalty_t = λ Σ_s min(α_ts, Σ_{t' < t} α_t's)
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/additive.h"
#include "model/linear.h"

namespace regard {

class Coverage : public Attention {
 public:
  Coverage(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(Memory& memory) override { additive_->prepare(memory); }
  AttentionState start(const Memory& memory) override;  // C_0 and 1 / Phi, each [B, S]
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const Memory& memory) override;
  torch::Tensor scores(const torch::Tensor& query, const AttentionState& state,
                       const Memory& memory) override;
  bool is_mixture() const override { return true; }

 private:
  // In a search the kernels add w C_s as they go.
  kernels::AttentionScore score_in_search(const Memory& memory,
                                          const torch::Tensor& coverage) const;
  // A row of keys U h_s + w C_s for each query, as each has looked elsewhere.
  Memory covered(const Memory& memory, const torch::Tensor& coverage) const;

  double N_;
  double lambda_;
  std::shared_ptr<Additive> additive_;
  Linear fertility_{nullptr};  // u, b
  torch::Tensor w_;            // [A]
};

}  // namespace regard
