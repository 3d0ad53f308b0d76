// Local attention (Luong, Pham, Manning 2015, section 3.2): a content score inside a window about
// p_t, the positions from p_t − D to p_t + D, and nothing outside.
//
//   local_m   p_t = t, at most the last position      α_t = softmax(e_t) inside the window
//   local_p   p_t = S sigmoid(v_pᵀ tanh(W_p s_t))     times exp(−(s − p_t)² / 2σ²), σ = D / 2
//
// S is the sentence's own length. The Gaussian is not renormalised: the weights of local_p sum to
// less than 1, and through it the gradient reaches p_t.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/attention.h"
#include "model/linear.h"

namespace regard {

class Local : public Attention {
 public:
  void prepare(Memory& memory) override { content_->prepare(memory); }
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const Memory& memory) override;
  torch::Tensor scores(const torch::Tensor& query, const AttentionState& /*state*/,
                       const Memory& memory) override {
    return content_->scores(query, {}, memory);
  }
  NamedNumbers numbers(const torch::Tensor& query, const AttentionState& state,
                       const Memory& memory) override;  // p_t, counted from 1
  bool is_mixture() const override { return true; }
  Query default_query() const override { return Query::fresh; }

 protected:
  // ConfigError where model.attention.score is no content score.
  Local(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  // p_t of each query: queries [B, G, D], lengths [B, 1, 1] -> [B, G, 1].
  virtual torch::Tensor centre(const torch::Tensor& queries, const AttentionState& state,
                               const torch::Tensor& lengths) = 0;
  // What becomes of the weights inside the window; distance s − p_t [B, G, S].
  virtual torch::Tensor shaped(const torch::Tensor& weights, const torch::Tensor& /*distance*/) {
    return weights;
  }
  virtual AttentionState next(const AttentionState& state) { return state; }

  double D_;

 private:
  // The positions of each window: p [B, G, 1] -> [B · G, 2], the first and the one behind the last.
  torch::Tensor window(const torch::Tensor& p, const torch::Tensor& lengths) const;

  std::shared_ptr<ScoreAttention> content_;
};

class LocalM : public Local {
 public:
  LocalM(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options)
      : Local(query_size, state_size, options) {}

  AttentionState start(const Memory& memory) override;  // t = 0, [B]
  std::optional<AttentionState> known_states(std::int64_t T, const Memory& memory) override;

 protected:
  torch::Tensor centre(const torch::Tensor& queries, const AttentionState& state,
                       const torch::Tensor& lengths) override;
  AttentionState next(const AttentionState& state) override { return {state[0] + 1}; }
};

class LocalP : public Local {
 public:
  LocalP(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  bool is_distribution() const override { return false; }

 protected:
  torch::Tensor centre(const torch::Tensor& queries, const AttentionState& state,
                       const torch::Tensor& lengths) override;
  torch::Tensor shaped(const torch::Tensor& weights, const torch::Tensor& distance) override;

 private:
  Linear W_p_{nullptr};  // [D, D], no bias
  torch::Tensor v_p_;    // [D]
};

}  // namespace regard
