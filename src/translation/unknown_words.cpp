#include "translation/unknown_words.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/line_reader.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"
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
    const auto translation = tab < line.size() ? line.substr(tab + 1) : "";
    if (is_blank(word) || is_blank(translation) || translation.find('\t') != std::string::npos ||
        translation.find("|||") != std::string::npos) {
      throw InputError(
          "{}:{}: found `{}`, expected a source word, a tab and its translation (without |||, "
          "which separates the fields of n-best lists)",
          dictionary, reader.line_number(), excerpt(line));
    }
    translations_.emplace(source.join(source.pieces(word)), translation);
  }
}

// With sub-words, the first token keeps the ▁ of the source token and each further word begins with
// ▁. With characters, a space token separates the words.
std::vector<std::string> UnknownWords::replacement_tokens(const std::string& source_token) const {
  const bool pieces = kind_ == TokenizerKind::bpe || kind_ == TokenizerKind::unigram;
  const bool begins_word = pieces && source_token.starts_with(space_symbol);
  auto word = begins_word ? source_token.substr(space_symbol.size()) : source_token;
  if (pieces) word = without_literal_symbols(word);
  const auto found = translations_.find(word);
  if (found == translations_.end()) return {source_token};
  std::vector<std::string> tokens;
  const auto translation = decode_utf8(found->second);
  for (const auto target_word : split_words(translation)) {
    if (!tokens.empty() && kind_ == TokenizerKind::character) tokens.emplace_back(" ");
    const bool has_symbol = pieces && (begins_word || !tokens.empty());
    const auto text = encode_utf8(target_word);
    tokens.push_back((has_symbol ? std::string(space_symbol) : "") +
                     (pieces ? with_literal_symbols(text) : text));
  }
  return tokens;
}

void UnknownWords::replace(const TextCodec& codec, Translation& translation) const {
  const auto add_oov_word = [&](std::string word) {
    translation.oov_words.push_back(std::move(word));
    return static_cast<std::int32_t>(codec.target->size() +
                                     static_cast<std::int64_t>(translation.oov_words.size()) - 1);
  };
  for (auto& hypothesis : translation.hypotheses) {
    for (std::size_t t = 0; t < hypothesis.tokens.size(); ++t) {
      if (hypothesis.tokens[t] != unk_id) continue;
      const auto weights = hypothesis.weights.at(t);
      if (weights.size() < 2) continue;  // the source has only </s>
      auto of_text = weights;
      of_text.back() = 0;  // </s>
      for (const auto tag : translation.tags) of_text.at(tag) = 0;
      const auto largest = std::max_element(of_text.begin(), of_text.end());
      if (*largest == 0) continue;  // no attention on any word
      const auto s = static_cast<std::size_t>(largest - of_text.begin());
      const auto words = replacement_tokens(translation.source_tokens.at(s));
      hypothesis.tokens[t] = add_oov_word(words[0]);
      for (std::size_t w = 1; w < words.size(); ++w) {
        ++t;
        const auto position = static_cast<std::ptrdiff_t>(t);
        hypothesis.tokens.insert(hypothesis.tokens.begin() + position, add_oov_word(words[w]));
        hypothesis.weights.insert(hypothesis.weights.begin() + position, weights);
        if (!hypothesis.token_log_p.empty()) {
          hypothesis.token_log_p.insert(hypothesis.token_log_p.begin() + position, 0);
        }
      }
    }
  }
}

}  // namespace regard
