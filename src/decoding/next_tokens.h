// The tokens that go on best after each hypothesis, by the model and by the rules in force.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "decoding/search.h"
#include "decoding/token_rule.h"

namespace regard {

struct NextTokens {
  torch::Tensor tokens;  // [N, k] int64 on the CPU
  torch::Tensor log_p;   // [N, k] double on the CPU: log P(y_t | y_<t, x), falling
};

// CTRL's repetition penalty (Keskar et al. 2019) on logits [N, V], one history a row: x_y of each
// token y that is there already becomes x_y / penalty where it is positive, else x_y · penalty. P
// is the softmax of the result.
torch::Tensor penalise_repetition(const torch::Tensor& logits,
                                  const std::vector<History>& histories, double penalty);

class TokenChooser {
 public:
  explicit TokenChooser(const SearchOptions& options,
                        const std::vector<SentenceOptions>& sentences = {});

  // Where this is false, histories count for nothing and may be left out.
  bool needs_histories() const { return !rules_.empty() || options_.repetition_penalty != 1; }
  // The k best of logits [N, V] after each of N histories, without those that no translation holds
  // and those that a rule forbids; what is left out keeps its probability. Behind them, in no
  // order, what demanded phrases ask for next, if it is not among them. Fewer than k where the
  // vocabulary has no more; </s> of no probability fills up.
  NextTokens best(const torch::Tensor& logits, std::int64_t k,
                  const std::vector<History>& histories) const;
  // log P of all tokens, −∞ for those left out: [N, V] double on the CPU.
  torch::Tensor log_probabilities(const torch::Tensor& logits,
                                  const std::vector<History>& histories) const;

 private:
  torch::Tensor penalised(const torch::Tensor& logits, const std::vector<History>& histories) const;
  // For each row; none where there are no rules.
  std::vector<Limits> limits_of(std::int64_t rows, const std::vector<History>& histories) const;

  SearchOptions options_;
  std::vector<std::unique_ptr<TokenRule>> rules_;
};

}  // namespace regard
