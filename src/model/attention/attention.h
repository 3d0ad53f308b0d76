// Attention: where the decoder looks at each step (Bahdanau, Cho, Bengio 2015, section 3.1).
//
//   e_ts = a(query_t, key_s)      α_t = softmax_s(e_ts)      c_t = Σ_s α_ts value_s
//
// A new score is one file beside this one that derives from ScoreAttention, and one line in
// table.cpp.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/model_options.h"
#include "kernels/attention.h"
#include "model/seq2seq.h"

namespace regard {

// What an attention carries from one step to the next, a row for each query: nothing, for most.
using AttentionState = std::vector<torch::Tensor>;

// By the names that the equations have for them, each [N, k].
using NamedNumbers = std::vector<std::pair<std::string, torch::Tensor>>;

struct AttentionStep {
  torch::Tensor weights;  // α_t [N, S], exactly 0 at padding; or undefined
  torch::Tensor context;  // c_t [N, C]; of a mixture undefined: the decoder mixes what it needs
  AttentionState state;
  AttentionLoss loss = {};  // each [N]; in training
};

class Attention : public torch::nn::Module {
 public:
  // Done once a sentence: adds the keys, or the one context, to a memory that has
  // values, mask, lengths and summary.
  virtual void prepare(Memory& memory) = 0;
  // Before the first step, a row for each sentence.
  virtual AttentionState start(const Memory& /*memory*/) { return {}; }
  // The states before the steps 0 … T − 1, T in a row for each sentence, where they wait for
  // nothing.
  virtual std::optional<AttentionState> known_states(std::int64_t /*T*/, const Memory& /*memory*/) {
    return {};
  }
  // query [N, D]: the decoder's states, N = G · B, G in a row for each sentence of the memory:
  // of G hypotheses, or, where the states before them are known, of G steps.
  virtual AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                             const Memory& memory) = 0;

  // The scores e_t [N, S] that the weights of step() begin with, be it a softmax or more (a window,
  // a choice, a recursion: see the kind), with whatever comes out at padding; undefined where there
  // are none.
  virtual torch::Tensor scores(const torch::Tensor& /*query*/, const AttentionState& /*state*/,
                               const Memory& /*memory*/) {
    return {};
  }
  // The weights of each head [N, H, S], of the step that step() would make; undefined where there
  // are no heads.
  virtual torch::Tensor heads(const torch::Tensor& /*query*/, const Memory& /*memory*/) {
    return {};
  }
  // What else than scores the weights of such a step are made of: p_t of a window, say.
  virtual NamedNumbers numbers(const torch::Tensor& /*query*/, const AttentionState& /*state*/,
                               const Memory& /*memory*/) {
    return {};
  }
  // As in Seq2Seq.
  virtual void at_step(std::int64_t /*step*/) {}

  // There are weights: none is negative, and over a sentence's positions they sum to 1 or less.
  virtual bool has_weights() const { return true; }
  // Which state asks, unless the configuration says so.
  virtual Query default_query() const { return Query::last; }
  // The context is Σ_s α_ts value_s, so a step gives the weights alone.
  virtual bool is_mixture() const { return false; }
  // The weights sum to 1 over a sentence's positions.
  virtual bool is_distribution() const { return is_mixture(); }
  // The weights are those of one position, which softmax_s(e_t) chooses.
  virtual bool is_choice() const { return false; }
  // The context is the same at every step.
  virtual bool is_constant() const { return false; }
  // A mixture's score in the form that the kernels have it, where there is one.
  virtual std::optional<kernels::AttentionScore> kernel_score(const Memory& /*memory*/) {
    return {};
  }
};

// Queries [N, D] of a memory with keys of B sentences -> [B, G, D].
torch::Tensor by_sentence(const torch::Tensor& queries, const Memory& memory);

// What an attention that moves on from where it was begins with: all on the first position [B, S].
torch::Tensor at_first_position(const Memory& memory);

// log α of weights [N, S]; below the smallest, as at padding, the smallest's.
constexpr double smallest_weight = 1e-20;
torch::Tensor log_weights(const torch::Tensor& weights);

// Every attention that scores each position by itself; the values are the states. A kind says what
// its keys are, and either the form in which the kernels have its score (kernel_score), or the
// score.
class ScoreAttention : public Attention {
 public:
  void prepare(Memory& memory) final { memory.keys = keys(memory.values); }
  AttentionStep step(const torch::Tensor& query, const AttentionState& /*state*/,
                     const Memory& memory) final {
    return {weights(query, memory), {}, {}};
  }
  // α [N, S]; with windows [N, 2] (kernels/attention.h), over those positions alone.
  torch::Tensor weights(const torch::Tensor& query, const Memory& memory,
                        const torch::Tensor& windows = {});
  torch::Tensor scores(const torch::Tensor& query, const AttentionState& state,
                       const Memory& memory) final;
  bool is_mixture() const final { return true; }
  // The part of the score that waits for no query: [B, S, C] -> [B, S, A].
  virtual torch::Tensor keys(const torch::Tensor& states) = 0;
  // e_t: queries [B, G, D] -> [B, G, S], with whatever comes out at padding.
  virtual torch::Tensor score(const torch::Tensor& queries, const Memory& memory);
};

}  // namespace regard
