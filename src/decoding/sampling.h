// Ancestral sampling: each token is drawn from
//
//   P'(y) ∝ P(y | y_<t, x)^{1/τ}
//
// restricted to the k most probable tokens (Fan et al. 2018), and among them to the smallest set
// with a total probability of at least p (nucleus sampling, Holtzman et al. 2020). Token
// constraints are applied to P first. The log-probability of a sample is computed with P, not P'.
// Sample n of a line depends only on the seed, the line number and n, not on batches or threads.
#pragma once

#include <vector>

#include "base/random.h"
#include "decoding/logits_processor.h"
#include "decoding/search.h"

namespace regard {

// Draws a token from P', given log P [V] after token constraints: −∞ for tokens that are not
// allowed. Returns -1 if no token is allowed. Takes one number from `random`. T is float or double.
template <typename T>
std::int64_t draw_token(const T* log_p, std::int64_t V, const SearchRequest& options,
                        Random& random);

// Draws a token for each of N hypotheses, each with its own random numbers. `log_probabilities` is
// the result of LogitsProcessor::log_probabilities() for the logits.
NextTokens draw_tokens(const NextLogits& logits, const torch::Tensor& log_probabilities,
                       const SearchRequest& options, const std::vector<Random*>& randoms);

}  // namespace regard
