#include "translation/unknown_words.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "data/line_reader.h"
#include "text/space_sign.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace regard {

UnknownWords::UnknownWords(const std::string& dictionary, const Tokenizer& source) {
  if (dictionary.empty()) return;
  LineReader reader(dictionary);
  for (std::string line; reader.next(line);) {
    if (is_blank(line)) continue;
    const auto tab = std::min(line.find('\t'), line.size());
    const auto word = line.substr(0, tab);
    const auto meaning = tab < line.size() ? line.substr(tab + 1) : "";
    if (is_blank(word) || is_blank(meaning) || meaning.find('\t') != std::string::npos) {
      throw InputError("{}:{}: found `{}`, wanted a source word, a tab and its translation",
                       dictionary, reader.line_number(), excerpt(line));
    }
    translations_.emplace(source.join(source.pieces(word)), meaning);
  }
}

// A sub-word keeps the ▁ that parts it from the word before.
std::string UnknownWords::word_for(const std::string& source_token) const {
  const bool begins_word = source_token.starts_with(space_sign);
  const auto word = begins_word ? source_token.substr(space_sign.size()) : source_token;
  const auto found = translations_.find(word);
  if (found == translations_.end()) return source_token;
  return (begins_word ? std::string(space_sign) : "") + found->second;
}

void UnknownWords::replace(const Tokenizers& tokenizers, Translation& translation) const {
  for (auto& hypothesis : translation.hypotheses) {
    for (std::size_t t = 0; t < hypothesis.tokens.size(); ++t) {
      if (hypothesis.tokens[t] != unk_id) continue;
      const auto& weights = hypothesis.weights.at(t);
      if (weights.size() < 2) continue;
      const auto most = std::max_element(weights.begin(), weights.end() - 1);  // </s> is no word
      const auto s = static_cast<std::size_t>(most - weights.begin());
      hypothesis.tokens[t] = static_cast<std::int32_t>(
          tokenizers.target->size() + static_cast<std::int64_t>(translation.more_words.size()));
      translation.more_words.push_back(word_for(translation.source_tokens.at(s)));
    }
  }
}

}  // namespace regard
