// From a source sentence to the most probable target sentence, greedily or by beam search. Knows
// the Seq2Seq interface and nothing of the model behind it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "kernels/packed_weights.h"
#include "model/output/output.h"

namespace regard {

struct SearchOptions {
  std::int64_t beam_size = 5;                // W; 1 is greedy
  double beam_alpha = 1.0;                   // of length_penalty
  std::int64_t max_output_length = 100;      // in tokens, </s> not counted
  double max_output_ratio = 3;               // of the source's tokens, plus 10; 0 is off
  std::int64_t begin_token = 2;              // <s>
  std::int64_t end_token = 3;                // </s>
  std::vector<std::int64_t> never = {0, 2};  // tokens no translation holds: <pad>, <s>
  bool want_weights = false;                 // keep the attention weights
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without <s> and </s>
  double log_probability = 0;        // Σ log P(y_t | y_<t, x), with </s> where it was reached
  double score = 0;                  // log_probability / length_penalty
  bool finished = false;             // ends in </s>, rather than at the maximum length
  std::vector<std::vector<float>> weights;  // [tokens + </s>][S], where wanted
  std::vector<double> token_log_p;          // of tokens and </s>, where they were given (forced.h)
};

// ((5 + n) / 6)^alpha for n tokens, </s> included (Wu et al. 2016).
double length_penalty(std::int64_t n, double alpha);

// The most tokens that a sentence of this length, </s> included, is translated to.
std::int64_t output_limit(std::int64_t source_length, const SearchOptions& options);

// The k tokens that go on best, those left out that no translation holds.
struct NextTokens {
  torch::Tensor tokens;  // [N, k] int64 on the CPU
  torch::Tensor log_p;   // [N, k] double on the CPU: log P(y_t | y_<t, x), falling
};

// logits [N, V]; fewer than k where there are no more.
NextTokens next_tokens(const torch::Tensor& logits, std::int64_t k, const SearchOptions& options);

// The n-best list of each source sentence, best first, never empty. source [B, S], lengths [B] as
// for Seq2Seq::encode. The model must be in evaluation mode. Its weights are packed into `packed`,
// for all searches until they change.
std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            kernels::PackedWeights& packed);
// One search by itself.
std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options);

}  // namespace regard
