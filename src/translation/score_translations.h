// The perplexity and the scores of words of given translations, from the result of
// Translator::score(), which score_translations.cpp defines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/data_options.h"
#include "decoding/search.h"
#include "translation/translator.h"

namespace regard {

// Returns exp(−Σ log P / Σ tokens), including </s>, over the best hypotheses; nullopt if there is
// none.
std::optional<double> perplexity(const std::vector<Translation>& translations);

// A word and the sum of its tokens' log-probabilities.
struct WordScore {
  std::string word;
  double log_probability = 0;
};

// Scores the words of a hypothesis as defined in word_alignment.h, and </s> if it was reached.
// Words that share a token have one score. `tokens` are the hypothesis's tokens from
// Translator::tokens().
std::vector<WordScore> word_scores(const Hypothesis& hypothesis,
                                   const std::vector<std::string>& tokens, TokenizerKind kind);

std::string to_text(const WordScore& score);         // "chat=-0.1234"
Json to_json(const std::vector<WordScore>& scores);  // [{"word": …, "log_probability": …}, …]

}  // namespace regard
