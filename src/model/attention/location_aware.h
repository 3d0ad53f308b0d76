// Location-aware attention (Chorowski et al. 2015, equations 8 and 9): additive attention that also
// reads the previous weights around each position, through a convolution. Made for speech, where
// many positions look alike.
//
//   f_t  = F * α_{t−1}                           k filters over K positions, K odd; α is 0 outside
//   e_ts = vᵀ tanh(W q_t + V h_s + b + U f_ts)      q_t is the query
//   α_t  = softmax_s(e_t)
//
// k is model.attention.filters, K is model.attention.filter_width. α_0 is 1 at the first position.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/scores.h"
#include "model/layers.h"

namespace regard {

class LocationAware : public Attention {
 public:
  // Throws ConfigError if K is even.
  LocationAware(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(EncoderOutput& encoded) override { additive_->prepare(encoded); }
  AttentionState initial_state(const EncoderOutput& encoded) override;  // α_0 [B, S]
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;
  AttentionDetail explain(const torch::Tensor& query, const AttentionState& state,
                          const EncoderOutput& encoded) override;

 private:
  // Returns the additive score with the keys V h_s + b + U f_ts, which differ for each query, given
  // α_{t−1} [N, S].
  kernels::AttentionScore score_after(const torch::Tensor& alpha, const EncoderOutput& encoded);

  std::int64_t width_;  // K
  std::shared_ptr<Additive> additive_;
  Linear F_{nullptr};  // [k, K], no bias
  Linear U_{nullptr};  // [A, k], no bias
};

}  // namespace regard
