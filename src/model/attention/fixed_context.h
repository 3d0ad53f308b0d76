// Kind `none`: the same context at every step, as in encoder–decoder models without attention
// (Cho et al. 2014; Sutskever, Vinyals, Le 2014).
//
//   c = q(h_1 … h_S), where q is the last states of both directions [→h_S; ←h_1], or the mean
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"

namespace regard {

class NoAttention : public Attention {
 public:
  NoAttention(std::int64_t /*query_size*/, std::int64_t /*state_size*/,
              const AttentionOptions& options)
      : Attention({.has_weights = false, .is_constant = true}), q_(options.fixed_context) {}

  void prepare(EncoderOutput& encoded) override;  // c [B, C]
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;

 private:
  FixedContext q_;
};

}  // namespace regard
