// The two tokenizers of a model, from the training text or from the user's files, and what they
// make of a pair of lines together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/data_options.h"
#include "config/model_options.h"
#include "text/tokenizer.h"

namespace regard {

// A source line as a model reads it. `numbers` and `copies` count </s> in.
struct SourceLine {
  std::vector<std::int32_t> tokens;
  // Where tokens are vectors of numbers, as in Tokenizer::numbers().
  std::vector<float> numbers = {};
  // Where words can be copied (model/output/copy_output.h): each word's id in the target's
  // vocabulary, or from its end on, in the order of `more_words`, which it lacks.
  std::vector<std::int32_t> copies = {};
  std::vector<std::string> more_words = {};
};

struct Tokenizers {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer> target;  // the same object when the vocabulary is joint
  OutputKind output = OutputKind::vocabulary;

  SourceLine encode_source(std::string_view line) const;
  // What the model is to say of this source. InputError for a position that it has not.
  std::vector<std::int32_t> encode_target(std::string_view line, const SourceLine& source) const;
  // What a model has said of the source that had these further words.
  std::string decode(std::span<const std::int32_t> ids,
                     const std::vector<std::string>& more_words) const;
  std::string target_token(std::int32_t id, const std::vector<std::string>& more_words) const;
};

// Loads src_file and trg_file where given, and trains the others on data.train (corpora of weight 0
// apart; each line once, whatever the weight); numbers and positions need neither. Joint: one
// tokenizer of both sides' text, or one file. `threads` as in train_tokenizer(). ConfigError when
// two joint files differ; other errors as in text/tokenizer.h.
Tokenizers make_tokenizers(const DataOptions& options, const ModelOptions& model = {},
                           std::int64_t threads = 0);

// The tokenizer of a side that needs no vocabulary, by the model's options; else null.
std::shared_ptr<const Tokenizer> fixed_source(const ModelOptions& options);
std::shared_ptr<const Tokenizer> fixed_target(const ModelOptions& options);

}  // namespace regard
