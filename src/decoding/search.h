// Decoding: translates a batch with greedy search, beam search or sampling. Uses only the Seq2Seq
// interface of a model.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/special_tokens.h"
#include "config/search_options.h"
#include "decoding/hypothesis.h"
#include "decoding/token_pattern.h"
#include "kernels/packed_weights.h"
#include "model/output/output_layer.h"

namespace regard {

class SearchGraphs;
class SearchLoop;

// Thrown by a search if SearchRequest::cancelled returns true.
class CancelledSearch : public std::exception {
 public:
  const char* what() const noexcept override { return "the search was cancelled"; }
};

// The options of a search: the section `search` of the configuration, and others.
struct SearchRequest : SearchOptions {
  // Number of hypotheses that the caller will use, at most beam_size. early_stopping `exact` stops
  // when so many best hypotheses are certain. Does not limit the result.
  std::int64_t n_best = 1;
  std::vector<std::int64_t> suppressed_tokens = {pad_id, bos_id};  // never generated
  WordBoundaries words = {};  // of the target vocabulary, for constraints
  bool want_weights = false;  // return the attention weights
  bool want_tree = false;     // return the tree of a beam search
  // Called before each decoding step, from any thread. If it returns true, the search throws
  // CancelledSearch. May be empty.
  std::function<bool()> cancelled = {};

  bool needs_weights() const { return want_weights || coverage_beta > 0; }
  void throw_if_cancelled() const {
    if (cancelled && cancelled()) throw CancelledSearch();
  }
};

// True if the options lead to the same results, so that sentences with them can share a search.
bool have_same_results(const SearchRequest& a, const SearchRequest& b);

// The options of one sentence.
struct SentenceOptions {
  std::int64_t number = 0;                // line number; seeds the samples of this sentence
  std::int32_t first_token = bos_id;      // the first input of the decoder: <s> or a tag
  std::vector<std::int32_t> prefix = {};  // translations start with these tokens
  std::optional<TokenPattern> prefix_pattern = {};  // or with others of the same text; see path()
  std::vector<TokenPattern> required_phrases = {};  // lexical constraints
  std::vector<TokenPattern> bad_words = {};         // excluded phrases
  // The tokens that the translation may have, ascending and distinct. They must include </s>, the
  // prefix and the required phrases. Empty: all tokens. Either all sentences of a batch have a
  // shortlist or none; Translator sets it.
  std::vector<std::int32_t> shortlist = {};

  bool has_constraints() const {
    return !prefix.empty() || !required_phrases.empty() || !bad_words.empty();
  }
};

// Returns the maximum length of the translations of a source. Both lengths include </s>.
std::int64_t output_limit(std::int64_t source_length, const SearchRequest& options,
                          const SentenceOptions& sentence = {});

// Tokens of hypotheses, each with the id of its sentence.
using BestSoFar = std::vector<std::pair<std::size_t, std::vector<std::int32_t>>>;

// A search whose sentences begin and end at different steps. The results of a sentence do not
// depend on the others, bit by bit. Not thread-safe; each call may come from another thread.
class RunningSearch {
 public:
  // The model must be in evaluation mode. It and `packed` must outlive this object; its packed
  // weights are stored in `packed`, as for search(). `graphs`, if it is not null, must outlive it
  // too; steps are graphs then, where they can be (search_graphs.h).
  RunningSearch(Seq2Seq& model, const SearchRequest& options, kernels::PackedWeights& packed,
                SearchGraphs* graphs = nullptr);
  ~RunningSearch();
  RunningSearch(const RunningSearch&) = delete;
  RunningSearch& operator=(const RunningSearch&) = delete;

  // Adds a batch of sentences, which begin with the next step. `sentences` and `ids` have one entry
  // per source; an id names its sentence in the results. Sentences with shortlists are added only
  // if no others are left. After an exception, the sentences were not added.
  void add(const SourceBatch& source, std::vector<SentenceOptions> sentences,
           const std::vector<std::size_t>& ids);

  struct Finished {
    std::size_t id;
    std::vector<Hypothesis> hypotheses;  // as the result of search()
  };
  // Decodes one more token of each hypothesis. Returns the sentences that are finished, in any
  // order. Throws CancelledSearch. After an exception, only the destructor may be called.
  std::vector<Finished> step();

  // Removes sentences without a result.
  void remove(const std::vector<std::size_t>& ids);

  // Returns the number of sentences that are not finished.
  std::size_t size() const;
  // Returns the id of each sentence with the tokens of its best unfinished hypothesis, or of its
  // first sample.
  BestSoFar best_so_far() const;

 private:
  SearchLoop& loop_of(const SentenceOptions& sentence);
  EncoderOutput encode(const SourceBatch& source, const std::vector<SentenceOptions>& sentences);

  Seq2Seq& model_;
  const SearchRequest options_;
  kernels::PackedWeights& packed_;
  SearchGraphs* graphs_;
  // One, or two: greedy search uses beam search for sentences with required phrases, so that the
  // constraints of a sentence do not change the results of others.
  std::vector<std::unique_ptr<SearchLoop>> loops_;
};

// Returns how many sentences, at most batch_size, a search on this device should have at a time. On
// a CPU, those whose samples are 256 together: more are not faster, and their states and logits
// exceed the caches. On other devices, those with 4,096 samples.
std::int64_t sentences_at_once(const SearchRequest& options, std::int64_t batch_size,
                               torch::Device device);

// Returns for each source sentence its samples (options.samples > 0) or the best hypotheses, at
// most beam_size, best first; at least one. `sentences` has one entry per source or is empty. The
// model must be in evaluation mode. Its packed weights are stored in `packed`, which can be reused
// until the weights change, also by several threads at once. Throws CancelledSearch.
std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const SourceBatch& source,
                                            const SearchRequest& options,
                                            const std::vector<SentenceOptions>& sentences,
                                            kernels::PackedWeights& packed);
// Same, with packed weights for this search only.
std::vector<std::vector<Hypothesis>> search(Seq2Seq& model, const SourceBatch& source,
                                            const SearchRequest& options,
                                            const std::vector<SentenceOptions>& sentences = {});

}  // namespace regard
