// The tokens of sacreBLEU 2.6.0's tokenizers.
#include <gtest/gtest.h>

#include "metrics/bleu_tokenizer.h"
#include "tests/metrics/metric_cases.h"
#include "text/unicode.h"

namespace regard {
namespace {

TEST(BleuTokenizerReference, TokensAreThoseOfSacreBleu) {
  for (const Json& row : metric_cases().at("tokens")) {
    SCOPED_TRACE(row.dump());
    std::u32string line = decode_utf8(row.at("line").get<std::string>());
    while (!line.empty() && is_space(line.back())) line.pop_back();
    const auto tokenizer = bleu_tokenizer_named(row.at("tokenizer").get<std::string>());
    const std::u32string spaced = tokenize_for_bleu(line, tokenizer);
    std::string tokens;
    for (std::u32string_view token : split_words(spaced)) {
      if (!tokens.empty()) tokens += ' ';
      tokens += encode_utf8(token);
    }
    EXPECT_EQ(tokens, row.at("tokens"));
  }
}

}  // namespace
}  // namespace regard
