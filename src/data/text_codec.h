// Encodes the lines of both sides of a model: its source and target tokenizers, trained on its text
// or loaded from files, or the features that source lines name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/special_tokens.h"
#include "base/thread_pool.h"
#include "config/data_options.h"
#include "config/model_options.h"
#include "data/feature_file.h"
#include "data/text_files.h"
#include "text/tokenizer.h"

namespace regard {

// A source line as the input of a model. `numbers` and `extended_ids` include </s>.
struct SourceLine {
  std::vector<std::int32_t> tokens = {};
  // The values of tokens that are vectors of numbers; see Tokenizer::numbers().
  std::vector<float> numbers = {};
  // If tokens can be copied (model/output/copy_output.h), the id of each in the target vocabulary
  // extended by `oov_words`, the words of the line that are not in that vocabulary; of sub-words,
  // the runs of characters.
  std::vector<std::int32_t> extended_ids = {};
  std::vector<std::string> oov_words = {};
  // The source if it is features: then there are no tokens. Valid while the TextCodec lives.
  Frames frames = {};

  // Returns the number of tokens or frames, without </s>.
  std::size_t length() const { return tokens.size() + static_cast<std::size_t>(frames.count()); }
};

// The lengths of the lines in training, with which translation compares its own.
struct LineLengths {
  std::int64_t long_source = 0;  // tokens that 99 of 100 source lines do not exceed; 0: not known
  double low_ratio = 0;          // of target to source tokens; that of 99 of 100 pairs is higher
  double several = 0;            // share of source lines that hold several sentences
};

struct TextCodec {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer> target;  // the same object when the vocabulary is joint
  OutputKind output = OutputKind::vocabulary;
  // The features that the source names; null if the source is text.
  std::shared_ptr<const FeatureFiles> features = {};
  std::int64_t frames_per_state = 1;   // see config/model_options.h
  Grid grid = {};                      // of images; no cells for other sources
  std::int64_t image_channels = 3;     // numbers of a pixel
  std::string source_tag = {};         // a user symbol before each source line; empty: none
  std::int32_t first_target = bos_id;  // the first input of the decoder: <s> or the target's tag
  LineLengths lengths = {};            // of the training corpus

  // Returns the codec of text with these tags (data.train.0.src_tag, trg_tag). An empty text
  // means no tag, and nullopt the tag of this codec. Throws ConfigError if a tag is not one
  // token of its vocabulary.
  TextCodec with_tags(const std::optional<std::string>& of_source,
                      const std::optional<std::string>& of_target) const;
  // Returns the tag of the target; empty if there is none.
  std::string target_tag() const;
  // Returns the source line with its tag.
  std::string tagged_source(std::string_view line) const;

  // Throws InputError, for features as FeatureFiles::item() does.
  SourceLine encode_source(std::string_view line) const;
  // Returns the expected output for this source. Throws InputError for a position beyond the end of
  // the source.
  std::vector<std::int32_t> encode_target(std::string_view line, const SourceLine& source) const;
  // Returns the text of a translation of the source that has these words outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids,
                     const std::vector<std::string>& oov_words) const;
  std::string target_token(std::int32_t id, const std::vector<std::string>& oov_words) const;
};

// Loads src_file and trg_file if given, and trains the other tokenizers on the files of data.train,
// each line once whatever its weight, without corpora of weight 0. Numbers and positions need
// neither. If `joint`, one tokenizer is trained on the text of both sides or loaded from one file.
// Words are counted on all threads of `pool`, and small SentencePiece models of both sides are
// trained at the same time, which changes no byte of the result; see train_tokenizer() for
// `threads`. Throws ConfigError if two joint files differ, and the errors of
// text/tokenizer.h.
TextCodec make_text_codec(const DataOptions& options, const ModelOptions& model,
                          const TextFiles& files, ThreadPool& pool, std::int64_t threads);

// Returns the codec of an initial model with at most extend_by more entries on each side,
// learnt from the files of data.train. Sides without a vocabulary stay as they are. Throws as
// make_text_codec() does.
TextCodec extend_text_codec(const DataOptions& options, const TextCodec& initial,
                            const TextFiles& files, std::int64_t threads);

// Loads the tokenizer of data.tokenizer.src_file or trg_file. Throws InputError.
std::shared_ptr<const Tokenizer> load_tokenizer_file(const TokenizerOptions& options,
                                                     const std::string& file);

// Returns the codec of a source of features of these settings, without a target tokenizer.
TextCodec feature_codec(const ModelOptions& model, const std::string& settings);

// Returns the source and the target file of each corpus with a weight above 0, or `with_unused` of
// each corpus.
std::vector<std::string> training_paths(const DataOptions& options, bool with_unused = false);

// Returns the tokenizer of a side that needs no vocabulary, or null if the side needs one.
std::shared_ptr<const Tokenizer> fixed_source_tokenizer(const ModelOptions& options);
std::shared_ptr<const Tokenizer> fixed_target_tokenizer(const ModelOptions& options);

// Returns the codec of text whose tokenizers load("source") and load("target") return, as far as
// the sides need a vocabulary. If it is `joint`, the target has the tokenizer of the source.
template <typename Load>
TextCodec load_text_codec(const ModelOptions& model, bool joint, const Load& load) {
  TextCodec codec{fixed_source_tokenizer(model), fixed_target_tokenizer(model), model.output.kind};
  if (!codec.source) codec.source = load("source");
  if (!codec.target && joint) codec.target = codec.source;
  if (!codec.target) codec.target = load("target");
  return codec;
}

}  // namespace regard
