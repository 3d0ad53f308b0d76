// Replaces each <unk> by the source word with the highest attention weight at that step, or by its
// translation in a dictionary (Jean et al. 2015, Luong et al. 2015). Keeps <unk> if no source word
// has a positive weight.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "config/data_options.h"
#include "data/text_codec.h"
#include "translation/translator.h"

namespace regard {

class UnknownWords {
 public:
  // `dictionary` is the path of a file with a source word, a tab and its translation in each line,
  // or empty for no dictionary. The first entry of a word is used. Words are looked up as the
  // tokenizer `source` normalises them; `kind` is the kind of both tokenizers. Throws InputError
  // with file:line for a line of another form.
  UnknownWords(const std::string& dictionary, const Tokenizer& source, TokenizerKind kind);

  // Replaces <unk> in all hypotheses, which must have attention weights. Appends the new words to
  // the translation's oov_words. Hypothesis::log_probability stays that of <unk>. If the dictionary
  // has several words, each becomes a token with the attention of <unk>: the first with the log P
  // of <unk>, the others with log P = 0.
  void replace(const TextCodec& codec, Translation& translation) const;

 private:
  // Returns the tokens of the dictionary's translation, or the source token if it has none.
  std::vector<std::string> replacement_tokens(const std::string& source_token) const;

  TokenizerKind kind_;
  std::unordered_map<std::string, std::string> translations_;
};

}  // namespace regard
