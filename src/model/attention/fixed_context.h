// Kind `none`: the same context at every step, as in encoder–decoder models without attention
// (Cho et al. 2014; Sutskever, Vinyals, Le 2014).
//
//   initial: no step has a context; the source reaches the decoder only through its initial state
//         (Sutskever et al.)
//   last: c = EncoderOutput::summary, such as the last states of both directions [→h_S; ←h_1]
//   mean: c = Σ_s h_s / S
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"

namespace regard {

class NoAttention : public Attention {
 public:
  NoAttention(std::int64_t /*query_size*/, std::int64_t /*state_size*/,
              const AttentionOptions& options)
      : Attention({.has_weights = false,
                   .is_constant = true,
                   .has_context = options.fixed_context != FixedContext::initial}),
        fixed_context_(options.fixed_context) {}

  void prepare(EncoderOutput& encoded) override;  // stores c [B, C], if there is one
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) override;
  torch::Tensor constant_context(const EncoderOutput& encoded) override {
    return encoded.context.at(this)[0];
  }

 private:
  FixedContext fixed_context_;
};

}  // namespace regard
