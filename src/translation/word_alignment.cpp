#include "translation/word_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/decomposed_words.h"
#include "text/sentencepiece_model.h"

namespace regard {
namespace {

constexpr std::string_view end_token = "</s>";

bool is_white_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Groups sub-words: the text between two ▁ belongs to one word. A token can contain the end of one
// word and the beginning of the next; it then belongs to both.
WordTokens group_pieces(const std::vector<std::string>& tokens) {
  WordTokens words;
  std::vector<std::size_t> lone;  // tokens of ▁ alone, which belong to the next word
  bool begins_word = true;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    std::string_view rest = tokens[t];
    bool in_a_word = false;
    while (!rest.empty()) {
      if (rest.starts_with(space_symbol)) {
        begins_word = true;
        rest.remove_prefix(space_symbol.size());
        continue;
      }
      if (begins_word) words.push_back(std::exchange(lone, {}));
      begins_word = false;
      in_a_word = true;
      words.back().push_back(t);
      rest.remove_prefix(std::min(rest.find(space_symbol), rest.size()));
    }
    if (!in_a_word) lone.push_back(t);
  }
  return words;
}

WordTokens group_characters(const std::vector<std::string>& tokens) {
  WordTokens words;
  bool begins_word = true;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const bool white = tokens[t].size() == 1 && is_white_space(tokens[t][0]);
    if (!white) {
      if (begins_word) words.emplace_back();
      words.back().push_back(t);
    }
    begins_word = white;
  }
  return words;
}

}  // namespace

WordTokens group_into_words(const std::vector<std::string>& all_tokens, TokenizerKind kind,
                            const std::vector<std::size_t>& tags) {
  if (!tags.empty()) {  // between two tags, the tokens are a text of their own
    WordTokens words;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= tags.size(); ++i) {
      const auto end = i < tags.size() ? tags[i] : all_tokens.size();
      const auto at = [&](std::size_t t) {
        return all_tokens.begin() + static_cast<std::ptrdiff_t>(t);
      };
      for (auto word : group_into_words({at(begin), at(end)}, kind)) {
        for (auto& token : word) token += begin;
        words.push_back(std::move(word));
      }
      begin = end + 1;
    }
    return words;
  }
  auto tokens = all_tokens;
  if (!tokens.empty() && tokens.back() == end_token) tokens.pop_back();
  switch (kind) {
    case TokenizerKind::bpe:
    case TokenizerKind::unigram:
      return group_pieces(tokens);
    case TokenizerKind::character:
      return group_characters(tokens);
    case TokenizerKind::word:
    case TokenizerKind::decomposed:
      break;
  }
  WordTokens words;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const bool is_later = kind == TokenizerKind::decomposed && t > 0 && is_later_part(tokens[t]);
    if (!is_later) words.emplace_back();
    words.back().push_back(t);
  }
  return words;
}

std::vector<std::string> word_texts(const std::vector<std::string>& tokens, const WordTokens& words,
                                    TokenizerKind kind) {
  std::vector<std::string> written;
  for (const auto& word : words) {
    if (kind == TokenizerKind::decomposed) {
      std::vector<std::string_view> parts;
      parts.reserve(word.size());
      for (const auto t : word) parts.emplace_back(tokens[t]);
      written.push_back(join_parts(parts));
      continue;
    }
    std::string text;
    for (const auto t : word) text += tokens[t];
    for (std::size_t at; (at = text.find(space_symbol)) != std::string::npos;) {
      text.erase(at, space_symbol.size());
    }
    written.push_back(std::move(text));
  }
  return written;
}

std::vector<std::string> token_labels(std::vector<std::string> tokens, TokenizerKind kind) {
  const auto words = group_into_words(tokens, kind);
  const auto texts = word_texts(tokens, words, kind);
  for (std::size_t i = 0; i < words.size(); ++i) {
    // A token that also begins the next word keeps its marks.
    const bool begins_next = i + 1 < words.size() && words[i + 1].front() == words[i].back();
    if (words[i].size() == 1 && !begins_next) tokens[words[i][0]] = texts[i];
  }
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

Alignment align_words(const std::vector<std::vector<float>>& weights,
                      const std::vector<std::string>& source_tokens,
                      const std::vector<std::size_t>& tags,
                      const std::vector<std::string>& target_tokens, TokenizerKind target_kind,
                      TokenizerKind source_kind) {
  return hard_alignment(word_weights(weights, group_into_words(source_tokens, source_kind, tags),
                                     group_into_words(target_tokens, target_kind)));
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
