// Selects the best next tokens of each hypothesis, subject to penalties and constraints.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "decoding/search.h"
#include "decoding/token_constraint.h"
#include "kernels/token_probabilities.h"

namespace regard {

// Possible next tokens of N hypotheses.
struct NextTokens {
  torch::Tensor tokens;  // [N, K] int64 on the CPU
  torch::Tensor log_p;   // [N, K] double on the CPU: log P(y_t | y_<t, x)
};

// The logits of the next token of N hypotheses.
struct NextLogits {
  torch::Tensor values;  // [N, V]; with a shortlist, [N, K]
  // With a shortlist, the token of each column [B, K] as in BatchShortlist::tokens(), for B
  // sentences with N / B consecutive hypotheses. Undefined if column y is token y.
  torch::Tensor tokens = {};

  // Returns the token of a column of hypothesis n.
  std::int64_t token(std::int64_t n, std::int64_t column) const;
  // Returns the column of a token of hypothesis n, or nullopt if the shortlist does not have it.
  std::optional<std::int64_t> column(std::int64_t n, std::int64_t token) const;

 private:
  const std::int64_t* tokens_of(std::int64_t n) const;
};

// Returns the logits of a step of the model.
NextLogits next_logits(Seq2Seq& model, const DecoderStep& step, const EncoderOutput& encoded);

// Applies the repetition penalty of CTRL (Keskar et al. 2019), one history per row. The logit x_y
// of each token y in the history becomes x_y / penalty if it is positive and x_y · penalty
// otherwise. P is the softmax of the result.
NextLogits penalise_repetition(const NextLogits& logits, const std::vector<History>& histories,
                               double penalty);

class LogitsProcessor {
 public:
  // Without sentences.
  explicit LogitsProcessor(const SearchRequest& options);
  LogitsProcessor(const LogitsProcessor&) = delete;
  LogitsProcessor& operator=(const LogitsProcessor&) = delete;

  // Applies the kinds of constraints that a sentence has, from now on. The histories refer to the
  // options of their sentence.
  void include(const SentenceOptions& sentence);

  // True if the functions below use `histories`, which may be empty otherwise.
  bool needs_histories() const { return !constraints_.empty() || options_.repetition_penalty != 1; }
  // Returns the k best tokens after each of N histories, best first, without suppressed and banned
  // tokens. Does not renormalise probabilities. Appends the tokens that begin or continue required
  // phrases, if they are not among the k best, unsorted: K ≥ k columns. Fills missing entries with
  // </s> and log-probability −∞.
  NextTokens best(const NextLogits& logits, std::int64_t k,
                  const std::vector<History>& histories) const;
  // True if the most probable tokens suffice, without a shortlist: nothing but a minimum length
  // depends on the history.
  bool needs_only_top() const;
  // Then, how many tokens of each row best_of_top() needs; fewer if there are no more.
  std::int64_t top_count(std::int64_t k) const;
  NextTokens best_of_top(const kernels::TopK& top, std::int64_t k,
                         const std::vector<History>& histories) const;
  // Returns log P of all columns, −∞ for suppressed and banned tokens: [N, V] or [N, K] on the CPU,
  // in the precision of the logits, single or double.
  torch::Tensor log_probabilities(const NextLogits& logits,
                                  const std::vector<History>& histories) const;

 private:
  // Returns penalise_repetition() with the penalty of the options.
  NextLogits penalised(const NextLogits& logits, const std::vector<History>& histories) const;
  // Returns a mask of columns for each row. Empty if all rows have the same: there are no
  // constraints and no shortlist.
  std::vector<TokenMask> column_masks(const NextLogits& logits,
                                      const std::vector<History>& histories) const;

  SearchRequest options_;
  ConstraintKinds kinds_;
  std::vector<std::unique_ptr<TokenConstraint>> constraints_;  // refer to options_
};

}  // namespace regard
