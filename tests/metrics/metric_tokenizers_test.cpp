#include "metrics/metric_tokenizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/choice.h"
#include "base/error.h"
#include "text/unicode.h"

namespace regard::metric_tokenizers_test {
namespace {

std::vector<std::string> tokenize(std::string_view line, BleuTokenizer tokenizer) {
  const std::u32string spaced = tokenize_for_bleu(decode_utf8(line), tokenizer);
  std::vector<std::string> tokens;
  for (std::u32string_view token : split_words(spaced)) tokens.push_back(encode_utf8(token));
  return tokens;
}

TEST(BleuTokenizer, NamesAndValuesMatch) {
  for (std::string_view name : {"13a", "intl", "char", "spm", "none"}) {
    EXPECT_EQ(enum_name(parse_bleu_tokenizer(name)), name);
  }
}

TEST(BleuTokenizer, AnUnknownNameIsAnErrorWithAllNames) {
  try {
    parse_bleu_tokenizer("flores");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown BLEU tokenizer 'flores': expected 13a, intl, zh, char, spm, none");
  }
}

TEST(BleuTokenizer, ANearNameIsSuggested) {
  EXPECT_THAT([] { parse_bleu_tokenizer("14a"); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr("did you mean '13a'?")));
}

TEST(BleuTokenizer, Mteval13aKeepsNumbersAndApostrophesWhole) {
  EXPECT_THAT(tokenize("It isn't 1,234.5, is it?", BleuTokenizer::mteval_13a),
              testing::ElementsAre("It", "isn't", "1,234.5", ",", "is", "it", "?"));
}

TEST(BleuTokenizer, Mteval13aSeparatesADashOnlyAfterADigit) {
  EXPECT_THAT(tokenize("3-4 a-4", BleuTokenizer::mteval_13a),
              testing::ElementsAre("3", "-", "4", "a-4"));
}

TEST(BleuTokenizer, Mteval13aReplacesEntitiesButIntlDoesNot) {
  EXPECT_THAT(tokenize("R&amp;D", BleuTokenizer::mteval_13a), testing::ElementsAre("R", "&", "D"));
  EXPECT_THAT(tokenize("R&amp;D", BleuTokenizer::intl),
              testing::ElementsAre("R", "&", "amp", ";", "D"));
}

TEST(BleuTokenizer, OnlyIntlSeparatesPunctuationBeyondAscii) {
  EXPECT_THAT(tokenize("«a»", BleuTokenizer::mteval_13a), testing::ElementsAre("«a»"));
  EXPECT_THAT(tokenize("«a»", BleuTokenizer::intl), testing::ElementsAre("«", "a", "»"));
}

TEST(BleuTokenizer, IntlKeepsAFinalPeriodWithItsNumber) {
  EXPECT_THAT(tokenize("in 1999.", BleuTokenizer::intl), testing::ElementsAre("in", "1999."));
  EXPECT_THAT(tokenize("in 1999.", BleuTokenizer::mteval_13a),
              testing::ElementsAre("in", "1999", "."));
}

TEST(BleuTokenizer, CharacterTokensAreCodePointsWithoutWhiteSpace) {
  EXPECT_THAT(tokenize("ü 好", BleuTokenizer::character), testing::ElementsAre("ü", "好"));
}

}  // namespace
}  // namespace regard::metric_tokenizers_test
