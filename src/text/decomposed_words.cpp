#include "text/decomposed_words.h"

#include "text/unicode.h"

namespace regard {
namespace {

constexpr std::string_view joiner = "￭";

}  // namespace

std::string split_composed(std::string_view text) {
  std::string result;
  for (const auto word : split_at_ascii_space(text)) {
    if (!result.empty()) result += ' ';
    const bool is_ascii = word.size() == 1;
    const auto whole = is_ascii || code_points(word).size() > 1 ? std::string() : decomposed(word);
    const auto parts = code_points(whole);
    if (parts.size() < 2 || composed(whole) != word) {
      result += word;
      continue;
    }
    result += parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) result.append(" ").append(joiner) += parts[i];
  }
  return result;
}

bool is_later_part(std::string_view token) {
  return token.size() > joiner.size() && token.starts_with(joiner);
}

std::string join_parts(const std::vector<std::string_view>& tokens) {
  std::string result;
  for (std::size_t i = 0; i < tokens.size();) {
    if (i > 0) result += ' ';
    std::string word(tokens[i]);
    const auto first = i++;
    for (; i < tokens.size() && is_later_part(tokens[i]); ++i) {
      word += tokens[i].substr(joiner.size());
    }
    result += i - first == 1 ? word : composed(word);
  }
  return result;
}

}  // namespace regard
