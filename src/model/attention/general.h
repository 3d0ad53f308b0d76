// The general score (Luong, Pham, Manning 2015, section 3.1):
//
//   e_ts = sᵀ W h_s = s · (W h_s)
//
// W h_s waits for no query: it is the key.
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/linear.h"

namespace regard {

class General : public ScoreAttention {
 public:
  General(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  std::optional<kernels::AttentionScore> kernel_score(const Memory& memory) override;
  torch::Tensor keys(const torch::Tensor& states) override;

 private:
  Linear W_{nullptr};  // [D, C]
};

}  // namespace regard
