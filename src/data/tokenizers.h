// The two tokenizers of a model, from the training text or from the user's files.
#pragma once

#include <memory>

#include "config/data_options.h"
#include "text/tokenizer.h"

namespace regard {

struct Tokenizers {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer> target;  // the same object when the vocabulary is joint
};

// Loads src_file and trg_file where given, and trains the others on data.train (corpora of weight 0
// apart; each line once, whatever the weight). Joint: one tokenizer of both sides' text, or one
// file. ConfigError when two joint files differ; InputError, ConfigError as in text/tokenizer.h.
Tokenizers make_tokenizers(const DataOptions& options);

}  // namespace regard
