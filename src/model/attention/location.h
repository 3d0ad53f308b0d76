// Location-based attention (Luong, Pham, Manning 2015, section 3.1): where to look, whatever is
// there.
//
//   α_t = softmax(W s_t), over the first S of its rows
//
// W has `max_positions` rows: a longer source is an InputError.
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"

namespace regard {

class Location : public ScoreAttention {
 public:
  Location(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  torch::Tensor keys(const torch::Tensor& states) override;  // [B, S, 0]: there are none
  std::optional<kernels::AttentionScore> kernel_score(const Memory& memory) override;

 private:
  std::int64_t max_positions_;
  torch::Tensor W_;  // [max_positions, D]
};

}  // namespace regard
