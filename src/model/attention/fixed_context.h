// No attention: one fixed context for every step, the encoder–decoder before attention (Cho et al.
// 2014; Sutskever, Vinyals, Le 2014).
//
//   c = q(h_1 … h_S), q the last states of both directions [→h_S; ←h_1], or the mean
#pragma once

#include "config/model_options.h"
#include "model/attention/attention.h"

namespace regard {

class NoAttention : public Attention {
 public:
  NoAttention(std::int64_t /*query_size*/, std::int64_t /*state_size*/,
              const AttentionOptions& options)
      : q_(options.fixed_context) {}

  void prepare(Memory& memory) override;
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const Memory& memory) override;
  bool is_constant() const override { return true; }
  bool has_weights() const override { return false; }

 private:
  FixedContext q_;
};

}  // namespace regard
