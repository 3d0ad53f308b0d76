#include "text/unicode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace regard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(Unicode, WordsAreSplitAtAnyWhiteSpace) {
  EXPECT_THAT(split_words(U" \u3000a b\t\u00A0c\u2028\x1F"), ElementsAre(U"a", U"b", U"c"));
  EXPECT_THAT(split_words(U"a\u200Bb"), ElementsAre(U"a\u200Bb"));  // zero width: no space
  EXPECT_TRUE(split_words(U" ").empty());
}

TEST(Unicode, ToLowerChangesOnlyCapitals) {
  EXPECT_EQ(to_lower(U"ÀÉ ẞß Ж ǅ Ⓐ 中1."), U"àé ßß ж ǆ ⓐ 中1.");
}

TEST(Unicode, CapitalIWithDotKeepsItsDot) {
  EXPECT_EQ(to_lower(U"\u0130"), U"i\u0307");
}

TEST(Unicode, SigmaIsFinalAtTheEndOfAWordOnly) {
  EXPECT_EQ(to_lower(U"ΟΔΟΣ ΣΟΦΟΣ."), U"οδος σοφος.");
  EXPECT_EQ(to_lower(U"Σ"), U"σ");                          // no letter before it
  EXPECT_EQ(to_lower(U"ΑΣ'Α ΑΣ\u0301"), U"ασ'α ας\u0301");  // marks are skipped
}

TEST(Unicode, AGraphemeIncludesItsMarksAndJoiners) {
  EXPECT_EQ(last_grapheme(U"a"), 0u);
  EXPECT_EQ(last_grapheme(U"ab"), 1u);
  EXPECT_EQ(last_grapheme(U"cafe\u0301"), 3u);
  EXPECT_EQ(last_grapheme(U"a\U0001F469\u200D\U0001F467"), 1u);
  EXPECT_EQ(last_grapheme(U"\U0001F1EB\U0001F1F7\U0001F1E9\U0001F1EA"), 2u) << "two flags";
}

std::vector<std::pair<std::string, std::size_t>> glyphs_of(std::string_view text) {
  std::vector<std::pair<std::string, std::size_t>> glyphs;
  for (const auto& glyph : split_glyphs(text)) glyphs.emplace_back(glyph.text, glyph.columns);
  return glyphs;
}

TEST(Glyphs, LettersTakeOneColumnAndWideCharactersTwo) {
  EXPECT_THAT(glyphs_of("aß▁"),
              ElementsAre(std::pair("a", 1U), std::pair("ß", 1U), std::pair("▁", 1U)));
  EXPECT_THAT(glyphs_of("日本"), ElementsAre(std::pair("日", 2U), std::pair("本", 2U)));
  EXPECT_THAT(glyphs_of("한Ａ"), ElementsAre(std::pair("한", 2U), std::pair("Ａ", 2U)));
  EXPECT_THAT(glyphs_of(""), IsEmpty());
}

TEST(Glyphs, CombiningMarksBelongToTheirLetter) {
  EXPECT_THAT(glyphs_of("e\u0301x"), ElementsAre(std::pair("e\u0301", 1U), std::pair("x", 1U)));
  EXPECT_THAT(glyphs_of("ก\u0E49"), ElementsAre(std::pair("ก\u0E49", 1U)));
  EXPECT_THAT(glyphs_of("\u1112\u1161\u11AB"), ElementsAre(std::pair("\u1112\u1161\u11AB", 2U)));
}

TEST(Glyphs, EmojiOfAnyNumberOfCodePointsTakeTwoColumns) {
  for (const std::string emoji : {"👍", "👍🏽", "👩‍👩‍👧", "🇫🇷", "❤️"}) {
    EXPECT_THAT(glyphs_of(emoji), ElementsAre(std::pair(emoji, 2U)));
  }
}

TEST(Glyphs, InvalidBytesTakeOneColumnEach) {
  EXPECT_THAT(glyphs_of("a\xFF\xFE"),
              ElementsAre(std::pair("a", 1U), std::pair("\xFF", 1U), std::pair("\xFE", 1U)));
}

}  // namespace
}  // namespace regard
