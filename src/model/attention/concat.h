// The concat score (Luong, Pham, Manning 2015, section 3.1):
//
//   e_ts = vᵀ tanh(W [s; h_s])
//
// By habit the new state asks, s_t. W [s; h] = W_s s + W_h h: under the same query and weights this
// is the additive score without its b.
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"

namespace regard {

class Concat : public ScoreAttention {
 public:
  Concat(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  Query default_query() const override { return Query::fresh; }
  std::optional<kernels::AttentionScore> kernel_score(const Memory& memory) override;
  torch::Tensor keys(const torch::Tensor& states) override;

 private:
  std::int64_t query_size_;
  torch::Tensor W_;  // [A, D + C]
  torch::Tensor v_;  // [A]
};

}  // namespace regard
