// The choices of a first configuration (config/starter_config.h) from statistics of a corpus: sizes
// by the number of pairs, tokenizer, limits and metric by the kind of text.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "config/data_options.h"
#include "config/model_options.h"
#include "config/output_lengths.h"
#include "config/training_options.h"

namespace regard {

struct SideStatistics {
  std::string path;
  std::string language;  // from the file name; may be empty
  double mean_words = 0;
  std::int64_t distinct_words = 0;
  std::int64_t distinct_characters = 0;
  std::int64_t distinct_parts = 0;  // words, and parts of composed ones (text/decomposed_words.h)
  bool tokenised = false;           // looks as if punctuation were separated from words
  bool split = false;               // looks as if words were split into sub-words
  bool unspaced = false;            // in a script without spaces between words
  double mean_tokens = 0;           // of the proposed tokenizer in kept pairs; 0: not measured
};

struct CorpusStatistics {
  std::int64_t pairs = 0;
  SideStatistics src;
  SideStatistics trg;
  std::int64_t common_characters = 0;  // distinct characters that occur on both sides
  // The share of the distinct target words of a sample that the source has too, almost whenever
  // they occur.
  double copied_words = 0;
  // The share of the target tokens that are in common substrings of their pair
  // (text/common_substrings.h), in the first 1,000 pairs and the first 500 tokens of a line; 0 if
  // not measured.
  double repeated_tokens = 0;
  std::int64_t measured_pairs = 0;  // those whose tokens were counted; 0: not measured
  std::int64_t empty_pairs = 0;     // of them, with a side without tokens
  // Measured pairs within starter_max_length(), of which one side has more than the default
  // max_ratio times the tokens of the other.
  std::int64_t uneven_pairs = 0;
  std::int64_t kept_pairs = 0;  // of them, those that training keeps with the proposed limits
  // Element n is the number of other measured pairs whose longer side has n tokens of the proposed
  // tokenizer. Empty: not measured.
  std::vector<std::int64_t> pairs_by_length = {};
  // The lengths of kept pairs, and of all validation pairs, beside the default limits of a search.
  OutputLengths outputs{SearchOptions()};
  OutputLengths dev_outputs{SearchOptions()};
};

struct RecurrentSize {
  std::int64_t embedding;
  std::int64_t hidden;
  double dropout;
  std::int64_t batch;  // target tokens
  std::int64_t epochs;
  double learning_rate;
  std::int64_t warmup;
};

struct TransformerSize {
  std::int64_t width;
  std::int64_t layers;  // of each side
  std::int64_t heads;
  std::int64_t feed_forward;
  double dropout;
  std::int64_t batch;  // target tokens
  std::int64_t epochs;
  double learning_rate;
  std::int64_t warmup;
};

// The measured sizes for the number of pairs and the kind of text.
RecurrentSize starter_recurrent_size(const CorpusStatistics& statistics);
TransformerSize starter_transformer_size(const CorpusStatistics& statistics);
// GRUs were better on the validation pair with up to 29,000 pairs; more were not tried.
constexpr std::int64_t max_pairs_for_recurrent = 60'000;

// True if the words of a side look like sub-words.
bool is_split(const CorpusStatistics& statistics);
// True if most words of the target are copied from the source, such as the names and strings of a
// program in a comment about it (0.68 of them in the text of Oda et al. 2015), or the nouns of a
// sentence in its logical form (0.76). Translations copy names and numbers only (German Multi30k:
// 0.02). Symbols are few, and need no copies.
bool copies_words(const CorpusStatistics& statistics);
// True if such a text is formal too: a closed vocabulary, most words of which occur often, in one
// alphabet on both sides. Rare words are then copied by their parts, which was better for sentences
// of COGS that need generalisation (docs/tasks.md).
bool copies_parts(const CorpusStatistics& statistics);
// Returns data.hallucination.rate: above 0 for very few lines of letters whose target copies parts
// of the source.
double starter_hallucination_rate(const CorpusStatistics& statistics, LayerKind architecture);
// The distinct characters of the side that has more of them.
std::int64_t most_characters(const CorpusStatistics& statistics);

// starter_tokenizer() and starter_max_ratio() read no lengths in tokens, starter_max_length() reads
// pairs_by_length. A max_ratio of 0 keeps all pairs.
TokenizerOptions starter_tokenizer(const CorpusStatistics& statistics);
double starter_max_ratio(const CorpusStatistics& statistics);
std::int64_t starter_max_length(const CorpusStatistics& statistics);
// Returns the metric that chooses the best checkpoint.
Metric starter_metric(const CorpusStatistics& statistics);

// Returns the least multiple of `unit` that is not below the value.
inline std::int64_t round_up(double value, std::int64_t unit) {
  return unit * static_cast<std::int64_t>(std::ceil(value / static_cast<double>(unit)));
}

}  // namespace regard
