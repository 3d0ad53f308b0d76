#include "translation/word_scores.h"

#include <fmt/format.h>

#include "translation/word_alignment.h"

namespace regard {

std::vector<WordScore> word_scores(const Hypothesis& hypothesis,
                                   const std::vector<std::string>& tokens, TokenizerKind kind) {
  std::vector<WordScore> scores;
  const auto& log_p = hypothesis.token_log_p;
  const auto words = words_of(tokens, kind);
  const auto written = written_words(tokens, words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    scores.push_back({written[i], 0});
    for (const auto t : words[i]) scores.back().log_probability += log_p[t];
  }
  if (hypothesis.finished && !log_p.empty()) scores.push_back({"</s>", log_p.back()});
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
