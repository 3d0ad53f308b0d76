#include "translation/unknown_words.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/line_reader.h"
#include "text/space_sign.h"
#include "text/unicode.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace regard {

UnknownWords::UnknownWords(const std::string& dictionary, const Tokenizer& source,
                           TokenizerKind kind)
    : kind_(kind) {
  if (dictionary.empty()) return;
  LineReader reader(dictionary);
  for (std::string line; reader.next(line);) {
    if (is_blank(line)) continue;
    const auto tab = std::min(line.find('\t'), line.size());
    const auto word = line.substr(0, tab);
    const auto meaning = tab < line.size() ? line.substr(tab + 1) : "";
    if (is_blank(word) || is_blank(meaning) || meaning.find('\t') != std::string::npos ||
        meaning.find("|||") != std::string::npos) {
      throw InputError(
          "{}:{}: found `{}`, wanted a source word, a tab and its translation (without |||, which "
          "parts the fields of n-best lists)",
          dictionary, reader.line_number(), excerpt(line));
    }
    translations_.emplace(source.join(source.pieces(word)), meaning);
  }
}

// A sub-word keeps the ▁ that parts it from the word before; so has each further word of a
// translation. Between characters stands a space of its own.
std::vector<std::string> UnknownWords::tokens_for(const std::string& source_token) const {
  const bool begins_word = source_token.starts_with(space_sign);
  const auto word = begins_word ? source_token.substr(space_sign.size()) : source_token;
  const auto found = translations_.find(word);
  if (found == translations_.end()) return {source_token};
  std::vector<std::string> tokens;
  const auto meaning = decode_utf8(found->second);
  for (const auto meant : split_words(meaning)) {
    if (!tokens.empty() && kind_ == TokenizerKind::character) tokens.emplace_back(" ");
    const bool pieces = kind_ == TokenizerKind::bpe || kind_ == TokenizerKind::unigram;
    const bool sign = pieces && (begins_word || !tokens.empty());
    tokens.push_back((sign ? std::string(space_sign) : "") + encode_utf8(meant));
  }
  return tokens;
}

void UnknownWords::replace(const Tokenizers& tokenizers, Translation& translation) const {
  const auto identity_of = [&](std::string word) {
    translation.more_words.push_back(std::move(word));
    return static_cast<std::int32_t>(tokenizers.target->size() +
                                     static_cast<std::int64_t>(translation.more_words.size()) - 1);
  };
  for (auto& hypothesis : translation.hypotheses) {
    for (std::size_t t = 0; t < hypothesis.tokens.size(); ++t) {
      if (hypothesis.tokens[t] != unk_id) continue;
      const auto weights = hypothesis.weights.at(t);
      if (weights.size() < 2) continue;
      const auto most = std::max_element(weights.begin(), weights.end() - 1);  // </s> is no word
      if (*most == 0) continue;  // it looked at no word
      const auto s = static_cast<std::size_t>(most - weights.begin());
      const auto words = tokens_for(translation.source_tokens.at(s));
      hypothesis.tokens[t] = identity_of(words[0]);
      for (std::size_t more = 1; more < words.size(); ++more) {
        ++t;
        const auto at = static_cast<std::ptrdiff_t>(t);
        hypothesis.tokens.insert(hypothesis.tokens.begin() + at, identity_of(words[more]));
        hypothesis.weights.insert(hypothesis.weights.begin() + at, weights);
        if (!hypothesis.token_log_p.empty()) {
          hypothesis.token_log_p.insert(hypothesis.token_log_p.begin() + at, 0);
        }
      }
    }
  }
}

}  // namespace regard
