// Selects the best next tokens of each hypothesis, subject to penalties and constraints.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "decoding/search.h"
#include "decoding/token_constraint.h"

namespace regard {

// Possible next tokens of N hypotheses.
struct NextTokens {
  torch::Tensor tokens;  // [N, K] int64 on the CPU
  torch::Tensor log_p;   // [N, K] double on the CPU: log P(y_t | y_<t, x)
};

// Applies the repetition penalty of CTRL (Keskar et al. 2019) to logits [N, V], one history per
// row. The logit x_y of each token y in the history becomes x_y / penalty if it is positive and x_y
// · penalty otherwise. P is the softmax of the result.
torch::Tensor penalise_repetition(const torch::Tensor& logits,
                                  const std::vector<History>& histories, double penalty);

class LogitsProcessor {
 public:
  // `sentences` only decides which kinds of constraints are applied; the histories refer to the
  // options of their sentence.
  explicit LogitsProcessor(const SearchOptions& options,
                           const std::vector<SentenceOptions>& sentences = {});

  // True if the functions below use `histories`, which may be empty otherwise.
  bool needs_histories() const { return !constraints_.empty() || options_.repetition_penalty != 1; }
  // Returns the k best tokens of logits [N, V] after each of N histories, best first, without
  // suppressed and banned tokens. Does not renormalise probabilities. Appends the tokens that begin
  // or continue required phrases, if they are not among the k best, unsorted: K ≥ k columns. Fills
  // missing entries with </s> and log-probability −∞.
  NextTokens best(const torch::Tensor& logits, std::int64_t k,
                  const std::vector<History>& histories) const;
  // Returns log P of all tokens, −∞ for suppressed and banned ones: [N, V] double on the CPU.
  torch::Tensor log_probabilities(const torch::Tensor& logits,
                                  const std::vector<History>& histories) const;

 private:
  // Returns penalise_repetition() with the penalty of the options.
  torch::Tensor penalised(const torch::Tensor& logits, const std::vector<History>& histories) const;
  // Returns a mask for each row; empty if there are no constraints.
  std::vector<TokenMask> token_masks(std::int64_t rows,
                                     const std::vector<History>& histories) const;

  SearchOptions options_;
  std::vector<std::unique_ptr<TokenConstraint>> constraints_;  // refer to options_
};

}  // namespace regard
