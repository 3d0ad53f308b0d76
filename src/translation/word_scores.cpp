#include "translation/word_scores.h"

#include <fmt/format.h>

#include <string_view>

#include "translation/word_alignment.h"

namespace regard {
namespace {

constexpr std::string_view space_sign = "▁";

}  // namespace

std::vector<WordScore> word_scores(const Hypothesis& hypothesis,
                                   const std::vector<std::string>& tokens, TokenizerKind kind) {
  std::vector<WordScore> scores;
  const auto& log_p = hypothesis.token_log_p;
  for (const auto& word : words_of(tokens, kind)) {
    scores.emplace_back();
    auto& score = scores.back();
    for (const auto t : word) {
      score.word += tokens[t];
      score.log_probability += log_p[t];
    }
    for (std::size_t at; (at = score.word.find(space_sign)) != std::string::npos;) {
      score.word.erase(at, space_sign.size());
    }
  }
  if (hypothesis.finished) scores.push_back({"</s>", log_p.back()});
  return scores;
}

std::string to_text(const WordScore& score) {
  return fmt::format("{}={:.4f}", score.word, score.log_probability);
}

Json to_json(const std::vector<WordScore>& scores) {
  auto all = Json::array();
  for (const auto& score : scores) {
    all.push_back({{"word", score.word}, {"log_probability", score.log_probability}});
  }
  return all;
}

}  // namespace regard
