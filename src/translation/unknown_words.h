// Words in place of <unk>: what the source has at the position that the attention looks at most
// when <unk> is said, or its translation by a dictionary (Jean et al. 2015, Luong et al. 2015).
// Where it looks at no word, <unk> stays.
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
  // `dictionary`: a source word, a tab and its translation in each line, the first of a word
  // counting; empty for none. Words are looked up as `source` shows them; `kind` is that of both
  // tokenizers. InputError with file:line.
  UnknownWords(const std::string& dictionary, const Tokenizer& source, TokenizerKind kind);

  // In all hypotheses, whose weights must be there. The words are appended to the translation's
  // more_words; log-probabilities stay those of <unk>. Of a translation of several words each is a
  // token that looks where <unk> looked, the first with its log P, the others with log 1.
  void replace(const Tokenizers& tokenizers, Translation& translation) const;

 private:
  std::vector<std::string> tokens_for(const std::string& source_token) const;

  TokenizerKind kind_;
  std::unordered_map<std::string, std::string> translations_;
};

}  // namespace regard
