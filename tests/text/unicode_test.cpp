#include "text/unicode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard {
namespace {

TEST(Unicode, DecodingAndEncodingAreInverse) {
  const std::string text = "aß€🙂";
  EXPECT_EQ(decode_utf8(text), U"aß€🙂");
  EXPECT_EQ(encode_utf8(decode_utf8(text)), text);
}

TEST(Unicode, EachInvalidByteBecomesAReplacementCharacter) {
  EXPECT_EQ(decode_utf8("a\xFF\x80z"), U"a\uFFFD\uFFFDz");
  EXPECT_EQ(decode_utf8("\xE2\x82"), U"\uFFFD\uFFFD");            // cut off
  EXPECT_EQ(decode_utf8("\xC0\xAF"), U"\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(decode_utf8("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");  // a surrogate
}

TEST(Unicode, CategoriesTellPunctuationSymbolsAndNumbersApart) {
  for (char32_t c : std::u32string_view(U".-_()«»„“،。·")) {
    SCOPED_TRACE(encode_utf8({&c, 1}));
    EXPECT_TRUE(is_punctuation(c) && !is_symbol(c) && !is_number(c));
  }
  for (char32_t c : std::u32string_view(U"+$€^`|🙂©")) {
    SCOPED_TRACE(encode_utf8({&c, 1}));
    EXPECT_TRUE(!is_punctuation(c) && is_symbol(c) && !is_number(c));
  }
  for (char32_t c : std::u32string_view(U"07½²Ⅷ٣५")) {
    SCOPED_TRACE(encode_utf8({&c, 1}));
    EXPECT_TRUE(!is_punctuation(c) && !is_symbol(c) && is_number(c));
  }
  for (char32_t c : std::u32string_view(U"aß中ع \u0301")) {
    SCOPED_TRACE(encode_utf8({&c, 1}));
    EXPECT_TRUE(!is_punctuation(c) && !is_symbol(c) && !is_number(c));
  }
}

TEST(Unicode, WordsArePartedByAnyWhiteSpace) {
  EXPECT_THAT(split_words(U" \u3000a b\t\u00A0c\u2028\x1F"),
              testing::ElementsAre(U"a", U"b", U"c"));
  EXPECT_THAT(split_words(U"a\u200Bb"), testing::ElementsAre(U"a\u200Bb"));  // zero width: no space
  EXPECT_TRUE(split_words(U" ").empty());
}

TEST(Unicode, LowerCaseTouchesOnlyCapitals) {
  EXPECT_EQ(to_lower(U"ÀÉ ẞß Ж ǅ Ⓐ 中1."), U"àé ßß ж ǆ ⓐ 中1.");
}

TEST(Unicode, CapitalIWithDotKeepsItsDot) {
  EXPECT_EQ(to_lower(U"\u0130"), U"i\u0307");
}

TEST(Unicode, SigmaIsFinalAtTheEndOfAWordOnly) {
  EXPECT_EQ(to_lower(U"ΟΔΟΣ ΣΟΦΟΣ."), U"οδος σοφος.");
  EXPECT_EQ(to_lower(U"Σ"), U"σ");                          // no letter before it
  EXPECT_EQ(to_lower(U"ΑΣ'Α ΑΣ\u0301"), U"ασ'α ας\u0301");  // sought across marks
}

TEST(Unicode, ACharacterHasItsMarksAndJoiners) {
  EXPECT_EQ(last_character(U"a"), 0u);
  EXPECT_EQ(last_character(U"ab"), 1u);
  EXPECT_EQ(last_character(U"cafe\u0301"), 3u);
  EXPECT_EQ(last_character(U"a\U0001F469\u200D\U0001F467"), 1u);
  EXPECT_EQ(last_character(U"\U0001F1EB\U0001F1F7\U0001F1E9\U0001F1EA"), 2u) << "two flags";
}

}  // namespace
}  // namespace regard
