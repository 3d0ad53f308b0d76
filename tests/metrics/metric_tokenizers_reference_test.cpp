// The tokenizers of BLEU and TER compared with sacreBLEU 2.6.0.
#include "metrics/metric_tokenizers.h"

#include <gtest/gtest.h>

#include "base/choice.h"
#include "tests/metrics/metric_cases.h"
#include "text/unicode.h"

namespace regard::metric_tokenizers_reference_test {
namespace {

std::u32string line_of(const Json& row) {
  std::u32string line = decode_utf8(row.at("line").get<std::string>());
  while (!line.empty() && is_space(line.back())) line.pop_back();
  return line;
}

std::string join_tokens(std::u32string_view spaced) {
  std::string tokens;
  for (const std::u32string_view token : split_words(spaced)) {
    if (!tokens.empty()) tokens += ' ';
    tokens += encode_utf8(token);
  }
  return tokens;
}

TEST(BleuTokenizerReference, TokensEqualThoseOfSacreBleu) {
  for (const Json& row : metric_cases().at("tokens")) {
    SCOPED_TRACE(row.dump());
    const auto tokenizer =
        find_choice<BleuTokenizer>(row.at("tokenizer").get<std::string>()).value();
    EXPECT_EQ(join_tokens(tokenize_for_bleu(line_of(row), tokenizer)), row.at("tokens"));
  }
}

TEST(TerTokenizerReference, TokensEqualThoseOfSacreBleu) {
  for (const Json& row : metric_cases().at("ter_tokens")) {
    SCOPED_TRACE(row.dump());
    EXPECT_EQ(join_tokens(tokenize_for_ter(line_of(row), ter_options(row))), row.at("tokens"));
  }
}

}  // namespace
}  // namespace regard::metric_tokenizers_reference_test
