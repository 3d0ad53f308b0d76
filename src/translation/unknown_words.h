// Replaces each <unk> by the source word with the highest attention weight at that step, or by its
// translation in a dictionary (Jean et al. 2015, Luong et al. 2015). Keeps <unk> if no source word
// has a positive weight.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "config/data_options.h"
#include "data/tokenizers.h"
#include "translation/translator.h"

namespace regard {

class UnknownWords {
 public:
  // `dictionary` is a file with a source word, a tab and its translation in each line, or empty for
  // no dictionary. The first entry of a word is used. Words are looked up in the form that the
  // tokenizer `source` returns; `kind` is the kind of both tokenizers. Throws InputError with
  // file:line.
  UnknownWords(const std::string& dictionary, const Tokenizer& source, TokenizerKind kind);

  // Replaces <unk> in all hypotheses, which need attention weights. Appends the words to the
  // translation's oov_words. The log-probability stays that of <unk>. Each word of a translation of
  // several words is a token with the attention of <unk>; the first has its log P, the others
  // log 1.
  void replace(const Tokenizers& tokenizers, Translation& translation) const;

 private:
  std::vector<std::string> replacement_tokens(const std::string& source_token) const;

  TokenizerKind kind_;
  std::unordered_map<std::string, std::string> translations_;
};

}  // namespace regard
