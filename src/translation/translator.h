// Text in, text out: tokenizers, model and search together.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/workers.h"
#include "config/testing_options.h"
#include "decoding/search.h"
#include "translation/model_folder.h"

namespace regard {

struct Translation {
  std::string text;                        // the best hypothesis
  std::vector<std::string> source_tokens;  // with </s>, as the attention weights have them
  std::vector<Hypothesis> hypotheses;      // best first; empty for an empty line
  std::vector<std::string> more_words;     // as in SourceLine
};

// A source line that has something to translate, not white space alone, into what a model reads;
// where it goes and how it is shown into `translation`.
SourceLine encode_source(const Tokenizers& tokenizers, const std::optional<LengthLimit>& limit,
                         const std::string& line, std::int64_t number, Translation& translation);

// InputError where a sentence of so many tokens, and </s> behind them, is longer than that.
void check_length(std::size_t tokens, const std::optional<LengthLimit>& limit);

SearchOptions search_options(const TestingOptions& options);

class Translator {
 public:
  // The model is set to evaluation mode while it translates. Its weights must not change as long as
  // the translator lives.
  Translator(std::shared_ptr<Seq2Seq> model, Tokenizers tokenizers, torch::Device device,
             Workers& workers);

  // Translation i belongs to line i; a blank line gives an empty text. Lines of like length are
  // translated together, batch_size at a time, each worker at its own; `progress` hears how many
  // are done. `sentences` has one for each line, or none: then the first line's number is 1.
  // InputError, with the number, for a line that the model cannot read.
  std::vector<Translation> translate(const std::vector<std::string>& lines,
                                     const SearchOptions& options, std::int64_t batch_size,
                                     const std::function<void(std::int64_t)>& progress = {},
                                     const std::vector<SentenceOptions>& sentences = {}) const;

  // A hypothesis of a translation as text, and token by token with </s> where it was reached.
  std::string text(const Hypothesis& hypothesis, const Translation& translation) const;
  std::vector<std::string> tokens(const Hypothesis& hypothesis,
                                  const Translation& translation) const;

 private:
  std::shared_ptr<Seq2Seq> model_;
  Tokenizers tokenizers_;
  torch::Device device_;
  Workers& workers_;
  std::unique_ptr<kernels::PackedWeights> packed_;
};

}  // namespace regard
