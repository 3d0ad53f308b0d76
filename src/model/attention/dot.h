// The dot product (Luong, Pham, Manning 2015, section 3.1), and scaled (Vaswani et al. 2017,
// section 3.2.1):
//
//   e_ts = s · h_s        e_ts = s · h_s / √d
//
// d is the width of both. Where the decoder's is another than the encoder's, `project_keys` makes
// the keys K h_s, as wide as the query.
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/attention/key_projection.h"

namespace regard {

class Dot : public ScoreAttention {
 public:
  // ConfigError that names both widths where they differ and nothing is to project the keys.
  Dot(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options,
      double scale = 1);

  std::optional<kernels::AttentionScore> kernel_score(const Memory& memory) override;
  torch::Tensor keys(const torch::Tensor& states) override;

 private:
  double scale_;
  KeyProjection projection_;
};

class ScaledDot : public Dot {
 public:
  ScaledDot(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);
};

}  // namespace regard
