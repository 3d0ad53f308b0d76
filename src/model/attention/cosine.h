// Content-based addressing (Graves, Wayne, Danihelka 2014, equations 5 and 6):
//
//   e_ts = β s · h_s / (|s| |h_s|)
//
// The sharpness β = softplus(b) > 0 is learned (sharpness.h).
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/attention/key_projection.h"

namespace regard {

class Cosine : public ScoreAttention {
 public:
  // ConfigError as of KeyProjection.
  Cosine(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  std::optional<kernels::AttentionScore> kernel_score(const Memory& memory) override;

  // β h_s / |h_s|
  torch::Tensor keys(const torch::Tensor& states) override;

 private:
  KeyProjection projection_;
  torch::Tensor b_;  // []
};

}  // namespace regard
