// Local attention (Luong, Pham, Manning 2015, section 3.2): a content score over the window of
// positions [p_t − w, p_t + w], where w is model.attention.window (D in the paper). The weights
// outside are 0.
//
//   local_m   p_t = min(t, S − 1)      α_t = softmax(e_t) inside the window
//   local_p   p_t = S sigmoid(v_pᵀ tanh(W_p q_t))
//             α_t = softmax(e_t) inside the window, α_ts times exp(−(s − p_t)² / 2σ²), σ = w / 2
//
// S is the length of the sentence, and positions and steps are counted from 0. The width of the
// query q_t is query_size. The weights of local_p are not renormalised after the Gaussian, so their
// sum is less than 1. The gradient of p_t flows through the Gaussian.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/layers.h"

namespace regard {

// The part that both kinds share. A derived class sets the centre of the window.
class Local : public Attention {
 public:
  void prepare(EncoderOutput& encoded) override { content_->prepare(encoded); }
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;
  // Returns the scores, and p_t, counted from 1 and at most the length of the sentence.
  AttentionDetail explain(const torch::Tensor& query, const AttentionState& state,
                          const EncoderOutput& encoded) override;

 protected:
  // Throws ConfigError if model.attention.score is not a content score.
  Local(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options,
        bool is_distribution);

  // Returns p_t of each query: queries [B, G, query_size], lengths [B, 1, 1] -> [B, G, 1].
  virtual torch::Tensor centre(const torch::Tensor& queries, const AttentionState& state,
                               const torch::Tensor& lengths) = 0;
  // Returns the weights of a step, given the softmax inside the window and the distances s − p_t,
  // each [B, G, S].
  virtual torch::Tensor shape_weights(const torch::Tensor& weights,
                                      const torch::Tensor& /*distance*/) {
    return weights;
  }
  virtual AttentionState next_state(const AttentionState& state) { return state; }

  double half_window_;  // w

 private:
  // Returns the window of each query: p [B, G, 1], lengths [B, 1, 1] -> [B · G, 2] int64 on the
  // device of p: first position and end (exclusive).
  torch::Tensor window(const torch::Tensor& p, const torch::Tensor& lengths) const;

  std::shared_ptr<ScoreAttention> content_;
};

class LocalM : public Local {
 public:
  LocalM(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
      : Local(query_size, state_size, options, /*is_distribution=*/true) {}

  AttentionState initial_state(const EncoderOutput& encoded) override;  // t = 0, [B]
  std::optional<AttentionStep> all_steps(const torch::Tensor& queries, const AttentionState& first,
                                         const EncoderOutput& encoded) override;

 protected:
  torch::Tensor centre(const torch::Tensor& queries, const AttentionState& state,
                       const torch::Tensor& lengths) override;
  AttentionState next_state(const AttentionState& state) override { return {state[0] + 1}; }
};

class LocalP : public Local {
 public:
  LocalP(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

 protected:
  torch::Tensor centre(const torch::Tensor& queries, const AttentionState& state,
                       const torch::Tensor& lengths) override;
  torch::Tensor shape_weights(const torch::Tensor& weights, const torch::Tensor& distance) override;

 private:
  Linear W_p_{nullptr};  // [query_size, query_size], no bias
  torch::Tensor v_p_;    // [query_size]
};

}  // namespace regard
