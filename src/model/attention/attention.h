// The interface of attention, which weighs the source positions at each decoding step (Bahdanau,
// Cho, Bengio 2015, section 3.1):
//
//   e_ts = a(query_t, key_s)      α_t = softmax_s(e_ts)      c_t = Σ_s α_ts h_s
//
// To add a kind of attention, add a class in this folder, a line in table.cpp and a name in
// AttentionKind (config/model_options.h). Derive the class from ScoreAttention if it scores each
// position independently, otherwise from Attention.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <optional>
#include <vector>

#include "config/model_options.h"
#include "kernels/attention.h"
#include "model/seq2seq.h"

namespace regard {

// Per-step attention state, one row per query. Empty for most kinds.
using AttentionState = std::vector<torch::Tensor>;

struct AttentionStep {
  torch::Tensor weights;  // α_t [N, S], exactly 0 at padding; undefined if !has_weights
  torch::Tensor context;  // c_t [N, C]; undefined if is_mixture: the decoder computes it
  AttentionState state;
  AttentionLoss loss = {};  // each [N], in training
};

// The properties of a kind that the decoder and the output layer depend on.
struct AttentionTraits {
  bool has_weights = true;       // weights are ≥ 0 and their sum over a sentence is at most 1
  bool is_mixture = false;       // c_t = Σ_s α_ts h_s; step() returns only the weights
  bool is_distribution = false;  // the weights of a sentence sum to exactly 1
  bool is_hard = false;          // all weight is on one position
  bool is_constant = false;      // the context is the same at every step
  bool has_context = true;       // false: only the decoder's first state depends on the source
};

class Attention : public torch::nn::Module {
 public:
  const AttentionTraits& traits() const { return traits_; }

  // Precomputes the tensors that do not depend on a query and stores them in encoded.context. Must
  // be called once per batch of source sentences, before the functions below.
  virtual void prepare(EncoderOutput& encoded) = 0;
  // Returns the state before the first step, one row per sentence.
  virtual AttentionState initial_state(const EncoderOutput& /*encoded*/) { return {}; }
  // Computes attention for the decoder states query [N, D]. N = G · B, with G consecutive rows per
  // sentence: its hypotheses, or its steps if called by all_steps().
  virtual AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                             const EncoderOutput& encoded) = 0;
  // Computes all T steps at once. queries is [B · T, D], with T consecutive rows per sentence;
  // `first` is the result of initial_state(). Returns nothing if a step depends on the state after
  // the previous step: the decoder then calls step() in a loop. By default, calls step() once if
  // `first` is empty, and otherwise returns nothing.
  virtual std::optional<AttentionStep> all_steps(const torch::Tensor& queries,
                                                 const AttentionState& first,
                                                 const EncoderOutput& encoded);
  // Returns the scores, heads and other quantities of step() with the same arguments. The decoder
  // sets the other members of AttentionDetail.
  virtual AttentionDetail explain(const torch::Tensor& /*query*/, const AttentionState& /*state*/,
                                  const EncoderOutput& /*encoded*/) {
    return {};
  }
  // Returns the score function for the kernels, including keys and lengths, if step() is a softmax
  // of a score that they support. The kernels can then compute attention inside their time loop.
  // Returns nothing otherwise.
  virtual std::optional<kernels::AttentionScore> fused_score(const EncoderOutput& /*encoded*/) {
    return {};
  }
  // Returns the context of every step [B, C] if traits().is_constant and traits().has_context.
  virtual torch::Tensor constant_context(const EncoderOutput& /*encoded*/) { return {}; }
  // See Seq2Seq::set_training_step().
  virtual void set_training_step(std::int64_t /*step*/) {}

 protected:
  explicit Attention(const AttentionTraits& traits) : traits_(traits) {}

 private:
  AttentionTraits traits_;
};

// Reshapes the queries of B sentences: [N, D] -> [B, G, D].
torch::Tensor group_by_sentence(const torch::Tensor& queries, const EncoderOutput& encoded);

// Repeats each of B rows for the queries of its sentence: [B, M] -> [N, M].
torch::Tensor repeat_rows(const torch::Tensor& rows, std::int64_t N);

// Returns weights [B, S] that are 1 at the first position and 0 elsewhere: the initial state of
// kinds whose weights depend on the previous weights.
torch::Tensor first_position_weights(const EncoderOutput& encoded);

// The lower bound of a number whose logarithm is computed: far below every weight that matters, and
// a normal number in single precision.
constexpr double smallest_weight = 1e-20;
// Returns log max(α, smallest_weight) of weights α [N, S].
torch::Tensor log_weights(const torch::Tensor& weights);

// Base class of attentions that score each position independently of the other positions and of
// earlier steps: α_t = softmax_s(e_t). A derived class overrides keys() and score_parameters().
class ScoreAttention : public Attention {
 public:
  void prepare(EncoderOutput& encoded) final;
  AttentionStep step(const torch::Tensor& query, const AttentionState& state,
                     const EncoderOutput& encoded) final;
  AttentionDetail explain(const torch::Tensor& query, const AttentionState& state,
                          const EncoderOutput& encoded) final;
  std::optional<kernels::AttentionScore> fused_score(const EncoderOutput& encoded) final {
    if (transforms_queries()) return {};
    return score(encoded);
  }

  // Returns α [N, S] of query [N, D]. With windows [N, 2] (AttentionScore in kernels/attention.h),
  // α is 0 outside each query's window.
  torch::Tensor weights(const torch::Tensor& query, const EncoderOutput& encoded,
                        const torch::Tensor& windows = {});
  // Returns e [N, S] of query [N, D]; arbitrary at padding.
  torch::Tensor scores(const torch::Tensor& query, const EncoderOutput& encoded);
  // The same for queries that are grouped by sentence: [B, G, D] -> [B, G, S].
  torch::Tensor grouped_scores(const torch::Tensor& queries, const EncoderOutput& encoded);
  // Returns the score function, including keys and lengths.
  kernels::AttentionScore score(const EncoderOutput& encoded);

  // Computes the keys, the part of the score that does not depend on a query: [B, S, C] ->
  // [B, S, A].
  virtual torch::Tensor keys(const torch::Tensor& states) = 0;
  // Returns the form and the parameters of the score function, without keys and lengths.
  virtual kernels::AttentionScore score_parameters(const torch::Tensor& keys) = 0;
  // True if transformed() returns other vectors than the queries.
  virtual bool transforms_queries() const { return false; }
  // Returns the vectors [..., D] that the score function reads in place of the queries [..., D].
  virtual torch::Tensor transformed(const torch::Tensor& queries) { return queries; }

 protected:
  ScoreAttention();
};

}  // namespace regard
