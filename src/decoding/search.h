// From a source sentence to the most probable target sentence, greedily or by beam search. Knows
// the Seq2Seq interface and nothing of the model behind it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "base/special_tokens.h"
#include "config/testing_options.h"
#include "kernels/packed_weights.h"
#include "model/output/output.h"

namespace regard {

// Thrown by a search that SearchOptions::cancelled ended.
class SearchCancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "the search was cancelled"; }
};

// What the configuration says of a search, and what else there is to say.
struct SearchOptions : TestingOptions {
  std::int64_t n_best = 1;                             // how many `exact` makes sure of; at most W
  std::vector<std::int64_t> never = {pad_id, bos_id};  // tokens no translation holds
  std::vector<bool> inside_words = {};                 // by token: goes on with the word before it
  bool want_weights = false;                           // keep the attention weights
  bool want_tree = false;  // keep all that a beam search has gone through
  // Called before every decoding step, from any thread. True ends the search with SearchCancelled.
  // Empty: the search always runs to its end.
  std::function<bool()> cancelled = {};

  bool needs_weights() const { return want_weights || coverage_beta > 0; }
  void throw_if_cancelled() const {
    if (cancelled && cancelled()) throw SearchCancelled();
  }
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
