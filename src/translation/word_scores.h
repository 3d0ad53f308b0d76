// How probable each word of a translation is: the sum of its tokens' log-probabilities.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "config/data_options.h"
#include "decoding/search.h"

namespace regard {

struct WordScore {
  std::string word;
  double log_probability = 0;
};

// Words as in word_alignment.h, and </s> where it was reached. `tokens` are the hypothesis's, as
// Translator::tokens() shows them.
std::vector<WordScore> word_scores(const Hypothesis& hypothesis,
                                   const std::vector<std::string>& tokens, TokenizerKind kind);

std::string to_text(const WordScore& score);         // "chat=-0.1234"
Json to_json(const std::vector<WordScore>& scores);  // [{"word": …, "log_probability": …}, …]

}  // namespace regard
