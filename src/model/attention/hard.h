// Hard attention (Xu et al. 2015, section 4.1): one position at a time, drawn in training and the
// likeliest in decoding.
//
//   α_t = softmax(e_t), by any content score      s_t ~ α_t      c_t = h_{s_t}
//
// No gradient goes through a position that was drawn. Two estimators stand in for it:
//
//   reinforce  by −log P of what follows (loss/reinforce.h), λ_r times: at 1, and without label
//              smoothing, without bias, but noisy, so that less of it teaches more; the entropy
//              of α_t is rewarded λ_e times, so that it goes on looking about
//   gumbel     straight through (Jang, Gu, Poole 2017): s_t = argmax_s(log α_ts + g_s), g_s
//              Gumbel noise, with the gradient of softmax((log α_t + g) / τ) in its place
//
// Over the first `anneal_steps` updates a share of the sentences, falling from all to none, is read
// softly: with α_t itself for weights.
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/attention.h"

namespace regard {

class Hard : public Attention {
 public:
  // ConfigError where model.attention.score is no content score.
  Hard(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(Memory& memory) override { content_->prepare(memory); }
  AttentionState start(const Memory& memory) override;  // while annealing: who reads softly, [B, 1]
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const Memory& memory) override;
  void at_step(std::int64_t step) override;
  torch::Tensor scores(const torch::Tensor& query, const AttentionState& /*state*/,
                       const Memory& memory) override {
    return content_->scores(query, {}, memory);
  }
  bool is_mixture() const override { return true; }
  bool is_choice() const override { return true; }

 private:
  AttentionStep reinforced(const torch::Tensor& alpha) const;
  AttentionStep straight_through(const torch::Tensor& alpha) const;

  HardEstimator estimator_;
  double tau_;
  double lambda_r_;  // of the reward
  double lambda_e_;  // of the entropy
  std::int64_t anneal_steps_;
  double soft_share_;
  std::shared_ptr<ScoreAttention> content_;
};

}  // namespace regard
