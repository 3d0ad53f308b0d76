#include "translation/word_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "text/decomposed_words.h"
#include "text/sentencepiece_model.h"
#include "text/unicode.h"
#include "text/unspaced_script.h"

namespace regard {
namespace {

constexpr std::string_view end_token = "</s>";
constexpr std::u32string_view unknown = U"<unk>";

// True for one character of ASCII white space.
bool is_white_space(std::string_view token) {
  return token.size() == 1 && is_space_byte(token[0]);
}

// The words of a line.
struct GroupedWords {
  WordTokens tokens;
  std::vector<std::string> texts;

  void add(std::vector<std::size_t> word, std::string text) {
    tokens.push_back(std::move(word));
    texts.push_back(std::move(text));
  }
};

using Texts = std::vector<std::u32string>;  // of tokens; a space separates words

// Groups tokens by the words of their text. A token with parts of several words belongs to each of
// them; one of spaces alone belongs to the next word if `keeps_spaces`.
GroupedWords group_texts(const Texts& tokens, bool keeps_spaces) {
  std::u32string line;
  for (const auto& token : tokens) line += token == unknown ? U"" : token;
  const bool unspaced = is_unspaced_line(line);
  GroupedWords words;
  std::vector<std::size_t> lone;
  char32_t before = ' ';
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const bool is_whole = tokens[t] == unknown;
    bool in_a_word = false;
    for (const auto c : tokens[t]) {
      if (c != ' ') {
        const bool can_begin = unspaced && !(is_whole && in_a_word);
        const bool begins = before == ' ' || (can_begin && is_word_boundary(before, c));
        if (begins) words.add(std::exchange(lone, {}), {});
        auto& word = words.tokens.back();
        if (word.empty() || word.back() != t) word.push_back(t);
        words.texts.back() += encode_utf8({&c, 1});
        in_a_word = true;
      }
      before = c;
    }
    if (!in_a_word && keeps_spaces) lone.push_back(t);
  }
  return words;
}

GroupedWords group_pieces(const std::vector<std::string>& tokens) {
  Texts texts;
  for (const auto& token : tokens) {
    texts.push_back(decode_utf8(token));
    std::ranges::replace(texts.back(), U'\u2581', U' ');
  }
  auto words = group_texts(texts, /*keeps_spaces=*/true);
  for (auto& text : words.texts) text = without_literal_symbols(text);
  return words;
}

GroupedWords group_characters(const std::vector<std::string>& tokens) {
  Texts texts;
  for (const auto& token : tokens) {
    texts.push_back(is_white_space(token) ? U" " : decode_utf8(token));
  }
  return group_texts(texts, /*keeps_spaces=*/false);
}

GroupedWords group_parts(const std::vector<std::string>& tokens) {
  GroupedWords words;
  for (std::size_t t = 0; t < tokens.size();) {
    std::vector<std::size_t> word;
    std::vector<std::string_view> parts;
    do {
      word.push_back(t);
      parts.emplace_back(tokens[t]);
      ++t;
    } while (t < tokens.size() && is_later_part(tokens[t]));
    words.add(std::move(word), join_parts(parts));
  }
  return words;
}

GroupedWords group(std::vector<std::string> tokens, TokenizerKind kind) {
  if (!tokens.empty() && tokens.back() == end_token) tokens.pop_back();
  switch (kind) {
    case TokenizerKind::bpe:
    case TokenizerKind::unigram:
      return group_pieces(tokens);
    case TokenizerKind::character:
      return group_characters(tokens);
    case TokenizerKind::decomposed:
      return group_parts(tokens);
    case TokenizerKind::word:
      break;
  }
  GroupedWords words;
  for (std::size_t t = 0; t < tokens.size(); ++t) words.add({t}, tokens[t]);
  return words;
}

// Between two tags, the tokens are a text of their own.
GroupedWords group(const std::vector<std::string>& tokens, TokenizerKind kind,
                   const std::vector<std::size_t>& tags) {
  if (tags.empty()) return group(tokens, kind);
  GroupedWords words;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tags.size(); ++i) {
    const auto end = i < tags.size() ? tags[i] : tokens.size();
    const auto at = [&](std::size_t t) { return tokens.begin() + static_cast<std::ptrdiff_t>(t); };
    auto part = group({at(begin), at(end)}, kind);
    for (std::size_t w = 0; w < part.tokens.size(); ++w) {
      for (auto& token : part.tokens[w]) token += begin;
      words.add(std::move(part.tokens[w]), std::move(part.texts[w]));
    }
    begin = end + 1;
  }
  return words;
}

}  // namespace

WordTokens group_into_words(const std::vector<std::string>& tokens, TokenizerKind kind,
                            const std::vector<std::size_t>& tags) {
  return group(tokens, kind, tags).tokens;
}

std::vector<std::string> word_texts(const std::vector<std::string>& tokens, TokenizerKind kind,
                                    const std::vector<std::size_t>& tags) {
  return group(tokens, kind, tags).texts;
}

std::vector<std::string> token_labels(std::vector<std::string> tokens, TokenizerKind kind) {
  const auto [words, texts] = group(tokens, kind);
  for (std::size_t i = 0; i < words.size(); ++i) {
    // A token that belongs to two words keeps its marks.
    const bool begins_next = i + 1 < words.size() && words[i + 1].front() == words[i].back();
    const bool ends_last = i > 0 && words[i - 1].back() == words[i].front();
    if (words[i].size() == 1 && !begins_next && !ends_last) tokens[words[i][0]] = texts[i];
  }
  for (auto& token : tokens) token = without_literal_symbols(token);
  return tokens;
}

std::vector<std::vector<float>> word_weights(const std::vector<std::vector<float>>& weights,
                                             const WordTokens& source, const WordTokens& target) {
  std::vector<std::vector<float>> result;
  for (const auto& target_tokens : target) {
    std::vector<float> row(source.size(), 0);
    for (std::size_t i = 0; i < source.size(); ++i) {
      for (const auto t : target_tokens) {
        for (const auto s : source[i]) row[i] += weights.at(t).at(s);
      }
      row[i] /= static_cast<float>(target_tokens.size());
    }
    result.push_back(std::move(row));
  }
  return result;
}

Alignment hard_alignment(const std::vector<std::vector<float>>& word_weights) {
  Alignment alignment;
  for (std::size_t j = 0; j < word_weights.size(); ++j) {
    const auto& row = word_weights[j];
    if (row.empty()) continue;
    const auto i = std::max_element(row.begin(), row.end()) - row.begin();
    alignment.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
  }
  std::sort(alignment.begin(), alignment.end());
  return alignment;
}

Alignment align_words(const Hypothesis& hypothesis, const Translation& translation,
                      const std::vector<std::string>& tokens, const DataOptions& options) {
  const auto source =
      group_into_words(translation.source_tokens, source_token_kind(options), translation.tags);
  const auto target = group_into_words(tokens, options.tokenizer.kind);
  return hard_alignment(word_weights(hypothesis.weights, source, target));
}

TokenizerKind source_token_kind(const DataOptions& options) {
  return options.source == SourceKind::features ? TokenizerKind::word : options.tokenizer.kind;
}

std::string to_pharaoh(const Alignment& alignment) {
  std::string text;
  for (const auto& [source, target] : alignment) {
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source, target);
  }
  return text;
}

}  // namespace regard
