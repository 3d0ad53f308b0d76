// Attention: where the decoder looks at each step (Bahdanau, Cho, Bengio 2015, section 3.1).
//
//   e_ts = a(query_t, key_s)      alpha_t = softmax_s(e_ts)      c_t = sum_s alpha_ts value_s
//
// A new score is one file beside this one that derives from ScoreAttention, and one line in
// table.cpp.
#pragma once

#include <torch/torch.h>

#include <optional>

#include "kernels/gru.h"
#include "model/seq2seq.h"

namespace regard {

struct AttentionStep {
  torch::Tensor context;  // c_t [B, C]
  torch::Tensor weights;  // alpha_t [B, S]: a distribution, exactly 0 at padding; or undefined
};

class Attention : public torch::nn::Module {
 public:
  // Done once a sentence: fills keys and values from states h [B, S, C], where mask [B, S] is true
  // at real positions and summary [B, C] holds the last states of both directions.
  virtual Memory prepare(const torch::Tensor& states, const torch::Tensor& mask,
                         const torch::Tensor& summary) = 0;
  // query [B, D]: the decoder's state.
  virtual AttentionStep step(const torch::Tensor& query, const Memory& memory) = 0;

  // Shortcuts for a whole sequence of known targets; step() says what they must equal.
  // The context is the same at every step.
  virtual bool is_constant() const { return false; }
  // The score in the form that the GRU's loop has it, where there is one; `mixed` is left to the
  // decoder.
  virtual std::optional<kernels::GruAttention> in_gru(const Memory& /*memory*/) { return {}; }
};

// Every attention that scores each position by itself; the values are the states.
class ScoreAttention : public Attention {
 public:
  Memory prepare(const torch::Tensor& states, const torch::Tensor& mask,
                 const torch::Tensor& summary) final;
  AttentionStep step(const torch::Tensor& query, const Memory& memory) final;

 protected:
  // The part of the score that waits for no query: [B, S, C] -> [B, S, A].
  virtual torch::Tensor keys(const torch::Tensor& states) = 0;
  // e_t: query [B, D], keys [B, S, A] -> [B, S].
  virtual torch::Tensor score(const torch::Tensor& query, const torch::Tensor& keys) = 0;
};

}  // namespace regard
