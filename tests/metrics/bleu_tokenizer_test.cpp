#include "metrics/bleu_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "text/unicode.h"

namespace regard {
namespace {

std::vector<std::string> tokens(std::string_view line, BleuTokenizer tokenizer) {
  const std::u32string spaced = tokenize_for_bleu(decode_utf8(line), tokenizer);
  std::vector<std::string> found;
  for (std::u32string_view token : split_words(spaced)) found.push_back(encode_utf8(token));
  return found;
}

TEST(BleuTokenizer, NamesAndValuesMatch) {
  for (std::string_view name : {"13a", "intl", "char", "none"}) {
    EXPECT_EQ(name_of(bleu_tokenizer_named(name)), name);
  }
}

TEST(BleuTokenizer, UnknownNameIsAnErrorThatListsTheNames) {
  try {
    bleu_tokenizer_named("spm");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "unknown BLEU tokenizer 'spm': there are 13a, intl, zh, char, none");
  }
}

TEST(BleuTokenizer, ANearNameIsSuggested) {
  EXPECT_THAT([] { bleu_tokenizer_named("14a"); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr("did you mean '13a'?")));
}

TEST(BleuTokenizer, Mteval13aKeepsNumbersAndApostrophesWhole) {
  EXPECT_THAT(tokens("It isn't 1,234.5, is it?", BleuTokenizer::mteval_13a),
              testing::ElementsAre("It", "isn't", "1,234.5", ",", "is", "it", "?"));
}

TEST(BleuTokenizer, Mteval13aPartsADashOnlyAfterADigit) {
  EXPECT_THAT(tokens("3-4 a-4", BleuTokenizer::mteval_13a),
              testing::ElementsAre("3", "-", "4", "a-4"));
}

TEST(BleuTokenizer, Mteval13aReadsEntitiesButIntlDoesNot) {
  EXPECT_THAT(tokens("R&amp;D", BleuTokenizer::mteval_13a), testing::ElementsAre("R", "&", "D"));
  EXPECT_THAT(tokens("R&amp;D", BleuTokenizer::intl),
              testing::ElementsAre("R", "&", "amp", ";", "D"));
}

TEST(BleuTokenizer, OnlyIntlKnowsPunctuationBeyondAscii) {
  EXPECT_THAT(tokens("«a»", BleuTokenizer::mteval_13a), testing::ElementsAre("«a»"));
  EXPECT_THAT(tokens("«a»", BleuTokenizer::intl), testing::ElementsAre("«", "a", "»"));
}

TEST(BleuTokenizer, IntlLeavesAPeriodAtTheEndWithItsNumber) {
  EXPECT_THAT(tokens("in 1999.", BleuTokenizer::intl), testing::ElementsAre("in", "1999."));
  EXPECT_THAT(tokens("in 1999.", BleuTokenizer::mteval_13a),
              testing::ElementsAre("in", "1999", "."));
}

TEST(BleuTokenizer, CharacterTokensAreCodePointsWithoutWhiteSpace) {
  EXPECT_THAT(tokens("ü 好", BleuTokenizer::character), testing::ElementsAre("ü", "好"));
}

}  // namespace
}  // namespace regard
