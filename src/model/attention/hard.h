// Hard attention (Xu et al. 2015, section 4.1): all weight on one position, sampled in training and
// the most probable in decoding.
//
//   α_t = softmax(e_t) of any content score (scores.h)      s_t ~ α_t      c_t = h_{s_t}
//
// Sampling a position is not differentiable. There are two estimators of the gradient:
//
//   reinforce  REINFORCE with −log P of the tokens that follow (output/loss.h), scaled by λ_r. With
//              λ_r = 1 and no label smoothing it is unbiased but noisy; a smaller λ_r trains
//              better. λ_e times the entropy of α_t is subtracted from the loss, which keeps
//              sampling diverse
//   gumbel     straight-through Gumbel softmax (Jang, Gu, Poole 2017): s_t = argmax_s(log α_ts +
//              g_s) with Gumbel noise g_s, and the gradient of softmax((log α_t + g) / τ)
//
// In the first `anneal_steps` updates a fraction of the sentences, falling linearly from 1 to 0,
// uses soft attention: the weights are α_t itself.
//
// The keys of model.attention are reward (λ_r), entropy (λ_e) and temperature (τ).
#pragma once

#include <memory>

#include "config/model_options.h"
#include "model/attention/attention.h"

namespace regard {

class Hard : public Attention {
 public:
  // Throws ConfigError if model.attention.score is not a content score.
  Hard(std::int64_t query_size, std::int64_t state_size, const AttentionOptions& options);

  void prepare(EncoderOutput& encoded) override { content_->prepare(encoded); }
  // While annealing, returns [B, 1] bool, true for sentences with soft attention. Otherwise empty.
  AttentionState initial_state(const EncoderOutput& encoded) override;
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;
  void set_training_step(std::int64_t step) override;
  AttentionDetail explain(const torch::Tensor& query, const AttentionState& /*state*/,
                          const EncoderOutput& encoded) override {
    return content_->explain(query, {}, encoded);
  }

 private:
  AttentionStep reinforce_step(const torch::Tensor& alpha) const;
  AttentionStep straight_through_step(const torch::Tensor& alpha) const;

  HardEstimator estimator_;
  double tau_;
  double lambda_r_;
  double lambda_e_;
  std::int64_t anneal_steps_;
  double soft_fraction_;  // of the sentences of this update
  std::shared_ptr<ScoreAttention> content_;
};

}  // namespace regard
