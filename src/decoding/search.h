// From a source sentence to the most probable target sentence, greedily or by beam search. Knows
// the Seq2Seq interface and nothing of the model behind it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/special_tokens.h"
#include "config/testing_options.h"
#include "kernels/packed_weights.h"
#include "model/output/output.h"

namespace regard {

struct SearchOptions {
  std::int64_t beam_size = 5;  // W; 1 is greedy
  // Of the score (decoding/score.h).
  double beam_alpha = 1.0;
  LengthPenalty length_penalty = LengthPenalty::gnmt;
  double coverage_beta = 0;  // for models whose decoder steps have weights
  // Of the tokens that may come next (decoding/token_rule.h, decoding/next_tokens.h).
  std::int64_t min_output_length = 0;
  double repetition_penalty = 1;
  std::int64_t no_repeat_ngram = 0;
  // Of diverse beam groups (decoding/beam_groups.h).
  std::int64_t beam_groups = 1;  // G, a divisor of W
  double diversity = 0.5;
  // Of sampling, in place of a search (decoding/sampling.h).
  std::int64_t samples = 0;  // a sentence; 0 is a search
  double temperature = 1;
  std::int64_t top_k = 0;  // 0 is all
  double top_p = 1;
  std::int64_t seed = 1;
  // Of the end.
  SearchEnd early_stopping = SearchEnd::full;
  std::int64_t n_best = 1;               // how many `exact` makes sure of; at most W
  std::int64_t max_output_length = 100;  // in tokens, </s> counted
  double max_output_ratio = 3;           // of the source's tokens, plus 10; 0 is off
  std::int64_t begin_token = bos_id;
  std::int64_t end_token = eos_id;
  std::vector<std::int64_t> never = {pad_id, bos_id};  // tokens no translation holds
  std::vector<bool> inside_words = {};                 // by token: goes on with the word before it
  bool want_weights = false;                           // keep the attention weights
  bool want_tree = false;  // keep all that a beam search has gone through

  bool needs_weights() const { return want_weights || coverage_beta > 0; }
};

// What holds of one sentence alone.
struct SentenceOptions {
  std::int64_t number = 0;                               // its line, which its samples depend on
  std::vector<std::int32_t> prefix = {};                 // what its translations begin with
  std::vector<std::vector<std::int32_t>> demanded = {};  // phrases that they have, none empty
  std::vector<std::vector<std::int32_t>> banned = {};    // phrases that they have not, none empty
};

struct SearchTree;

struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without <s> and </s>
  double log_probability = 0;        // Σ log P(y_t | y_<t, x), with </s> where it was reached
  double score = 0;                  // what hypotheses are ranked by (decoding/score.h)
  bool finished = false;             // ends in </s>, rather than at the maximum length
  std::vector<std::vector<float>> weights;  // [tokens + </s>][S], where wanted
  std::vector<double> token_log_p;          // [tokens + </s>] log P(y_t | y_<t, x)
  std::shared_ptr<const SearchTree> tree;   // of the search, with its best, where wanted
};

// The most tokens that a sentence of this length, </s> included, is translated to.
std::int64_t output_limit(std::int64_t source_length, const SearchOptions& options,
                          const SentenceOptions& sentence = {});

// The n-best list of each source sentence, best first, or its samples; never empty. source [B, S],
// lengths [B] as for Seq2Seq::encode; `sentences` one for each, or none where none has anything of
// its own. The model must be in evaluation mode. Its weights are packed into `packed`, for all
// searches until they change.
std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences,
                                            kernels::PackedWeights& packed);
// One search by itself.
std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const torch::Tensor& source,
                                            const torch::Tensor& lengths,
                                            const SearchOptions& options,
                                            const std::vector<SentenceOptions>& sentences = {});

}  // namespace regard
