// Writes a first configuration for a corpus. The number of pairs determines the architecture and
// its sizes; the text determines the length limits and the vocabulary. Comments in the file explain
// each rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/data_options.h"
#include "config/model_options.h"
#include "config/output_lengths.h"

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

struct StarterConfig {
  std::string name;
  CorpusStatistics train;
  std::string dev_src;  // empty if there is no validation set
  std::string dev_trg;
  std::string docs_folder = "docs";  // contains the pages that the file names
  // Without a choice, GRUs with attention for little text and a Transformer for more
  // (docs/own_language_pair.md).
  std::optional<LayerKind> architecture = {};
};

// Return the choices of starter_config_yaml(). starter_tokenizer() and starter_max_ratio() read no
// lengths in tokens, starter_max_length() reads pairs_by_length. A max_ratio of 0 keeps all pairs.
TokenizerOptions starter_tokenizer(const CorpusStatistics& statistics);
double starter_max_ratio(const CorpusStatistics& statistics);
std::int64_t starter_max_length(const CorpusStatistics& statistics);
// Returns YAML with comments, which parse_options() and check_training_options() accept.
std::string starter_config_yaml(const StarterConfig& config);

// Returns a summary such as "24000 lines, 8.5 words each, 2210 distinct words, tokenised", with the
// tokens if they were measured.
std::string statistics_text(const SideStatistics& side, std::int64_t lines);

}  // namespace regard
