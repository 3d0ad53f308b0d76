// Translates text with codec, model and search.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/image.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "config/search_options.h"
#include "decoding/search.h"
#include "decoding/search_graphs.h"
#include "kernels/loops/products.h"
#include "model/seq2seq.h"
#include "translation/mark_placement.h"
#include "translation/model_folder.h"
#include "translation/ordered_lines.h"
#include "translation/shortlist.h"

namespace regard {

// Encodes a source line for the model. Stores the number of source tokens, the out-of-vocabulary
// words and, if `want_tokens`, the source tokens in `translation`. A blank line has no tokens.
// Throws InputError with `number` if the model cannot read the line.
SourceLine encode_source(const TextCodec& codec, const std::optional<LengthLimit>& limit,
                         const std::string& line, std::int64_t number, bool want_tokens,
                         Translation& translation);

// Returns the text of each token of a source line and of </s>: one for each encoder state. A state
// of features has the time at which its frames begin, "1.28 s", or the number of the first of them;
// a cell of an image has its place, "row 1, column 3".
std::vector<std::string> source_tokens(const TextCodec& codec, const std::string& line,
                                       const SourceLine& source);

// Returns the positions of the tokens of the source tag, which stands before the user's text and is
// none of its words; nothing without a tag.
std::vector<std::size_t> tag_positions(const TextCodec& codec,
                                       const std::vector<std::string>& tokens);

// Returns the seconds between two encoder states of a source line of features; 0 if they are not
// known, and for text.
double seconds_per_state(const TextCodec& codec, const std::string& line);

// Returns the image of a source line, with its numbers from 0 to 1 as brightness, clamped. Nothing
// if the source is no image, or if a pixel has neither one number nor red, green and blue.
std::optional<Image> source_image(const TextCodec& codec, const std::string& line);

// Throws InputError if a sentence of `tokens` tokens or frames and </s> is longer than `limit`.
void check_length(std::size_t tokens, const std::optional<LengthLimit>& limit);

// Returns the tokens of a hypothesis of a translation, with </s> if it was reached.
std::vector<std::string> hypothesis_tokens(const TextCodec& codec, const Hypothesis& hypothesis,
                                           const Translation& translation);

SearchRequest search_request(const SearchOptions& options);
// Returns the options of a search whose hypotheses are ranked by their expected utility if
// options.mbr asks for it: all of the beam are candidates, not only those that the caller will use.
SearchRequest ranked_options(SearchRequest options);

class Translator {
 public:
  // The model must be in evaluation mode during translations. Its weights must not change while the
  // translator lives. Matrix products have this precision (kernels/loops/products.h).
  Translator(std::shared_ptr<Seq2Seq> model, TextCodec codec, torch::Device device,
             ThreadPool& pool, kernels::Precision precision = kernels::Precision::full);

  // Restricts each translation to the shortlist of its source. Throws the errors of
  // check_shortlist().
  void use_shortlist(Shortlist shortlist);
  // Translates the terms of a glossary as it says, in lines without a group.
  void use_glossary(std::shared_ptr<const Glossary> glossary) { glossary_ = std::move(glossary); }

  // Returns one translation per line; a blank line has an empty text. Calls `progress` with the
  // number of finished lines, from one thread at a time. With options.mbr, the hypotheses are in
  // the order of their expected utility (minimum_bayes_risk.h). Throws InputError with the line
  // number, from 1, of the first line that the model cannot read.
  std::vector<Translation> translate(const std::vector<std::string>& lines,
                                     const SearchRequest& options, std::int64_t batch_size,
                                     const std::function<void(std::int64_t)>& progress = {}) const;
  // Translates lines in order (ordered_lines.h). Throws as above, with the line numbers in the
  // lines' options.
  void translate(OrderedLines& lines, const SearchRequest& options, std::int64_t batch_size) const;
  // Translates independent lines (translation_queue.h), with one batch of at most batch_size
  // sentences per thread (continuous_batch.h). The search options of a LineGroup are those of
  // ranked_options().
  void translate(LineStream& stream, const SearchRequest& options, std::int64_t batch_size) const;

  // Scores given translations. Returns one translation per line, whose text and only hypothesis is
  // targets[i]. An empty source line has no hypothesis. `sources` and `targets` must have the same
  // size. Batches lines of similar length, batch_size at a time, one batch per thread. Encodes
  // equal sources of consecutive lines once per batch. Calls `progress` with the number of finished
  // lines. `codec`, unless null, is used in place of the translator's own, from which only its tags
  // may differ.
  std::vector<Translation> score(const std::vector<std::string>& sources,
                                 const std::vector<std::string>& targets, bool want_weights,
                                 std::int64_t batch_size,
                                 const std::function<void(std::int64_t)>& progress = {},
                                 const TextCodec* codec = nullptr) const;

  // The packed weights of the model, for other searches with it. Thread-safe.
  kernels::PackedWeights& packed_weights() const { return *packed_; }

  // Number of threads that translate.
  std::size_t threads() const { return pool_.count(); }

  // Return a hypothesis as text, and as hypothesis_tokens().
  std::string text(const Hypothesis& hypothesis, const Translation& translation) const;
  std::vector<std::string> tokens(const Hypothesis& hypothesis,
                                  const Translation& translation) const;
  // Returns the text of a translation of `line` with its markup. Needs the attention weights if
  // there is some. `kind` is that of the tokens.
  std::string marked_text(const MarkedLine& line, const Translation& translation,
                          TokenizerKind kind) const;

 private:
  const TextCodec& codec_of(const QueuedSentence& sentence) const;
  const Glossary* glossary_of(const QueuedSentence& sentence) const;
  void find_terms(QueuedSentence& sentence, std::int64_t max_output_length) const;
  std::vector<TokenPattern> required_phrases(const QueuedSentence& sentence) const;
  SentenceOptions sentence_options(const QueuedSentence& sentence) const;
  void rank_by_expected_utility(Translation& translation, const SearchOptions& options) const;

  std::shared_ptr<Seq2Seq> model_;
  TextCodec codec_;
  torch::Device device_;
  ThreadPool& pool_;
  std::unique_ptr<kernels::PackedWeights> packed_;
  std::unique_ptr<SearchGraphs> graphs_;  // on other devices than the CPU, which have one thread
  std::optional<Shortlist> shortlist_;
  std::shared_ptr<const Glossary> glossary_;
};

// Returns "text", "score", "log_probability", "finished" and, with minimum Bayes risk,
// "expected_utility" of a hypothesis, for `translate --json` and the answers of the server.
// `translation` is the one that has it.
Json hypothesis_json(const Translator& translator, const Hypothesis& hypothesis,
                     const Translation& translation);

// Returns attention weights as an array, rounded to six decimals: a float as a double has many
// digits.
Json weights_json(std::span<const float> weights);

// Throws ConfigError if shortlists do not apply to a model: its output is not a distribution over a
// vocabulary, or its source has no vocabulary.
void check_shortlist(Seq2Seq& model, const TextCodec& codec);

// Throws ConfigError if the search options contradict each other or the model.
void check_search(const SearchOptions& options, const Seq2Seq& model);

}  // namespace regard
