#include "text/unicode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace regard::unicode_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto valid = std::string_view::npos;

TEST(Utf8, WellFormedTextHasNoInvalidByte) {
  EXPECT_EQ(first_invalid_utf8(""), valid);
  EXPECT_EQ(first_invalid_utf8("plain"), valid);
  EXPECT_EQ(first_invalid_utf8("é ½ 漢 🙂 שלום"), valid);
  EXPECT_EQ(first_invalid_utf8(std::string_view("a\0b", 3)), valid);
}

TEST(Utf8, FirstAndLastCodePointOfEachLengthIsValid) {
  for (const char* text :
       {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(first_invalid_utf8(text), valid) << testing::PrintToString(text);
  }
}

TEST(Utf8, InvalidUtf8IsReportedAtItsFirstByte) {
  const char* lone_continuation = "\x80";
  const char* overlong_two = "\xC0\xAF";
  const char* overlong_two_high = "\xC1\xBF";
  const char* overlong_three = "\xE0\x9F\xBF";
  const char* overlong_four = "\xF0\x8F\xBF\xBF";
  const char* surrogate_low = "\xED\xA0\x80";
  const char* surrogate_high = "\xED\xBF\xBF";
  const char* above_last = "\xF4\x90\x80\x80";
  const char* never_a_lead = "\xF5\x80\x80\x80";
  const char* latin1 = "\xE9t\xE9";
  const char* cut_short = "\xE6\xBC";
  const char* broken_third = "\xE6\xBC\x41";
  const char* broken_fourth = "\xF0\x9F\x99\x41";
  for (const char* bytes : {lone_continuation, overlong_two, overlong_two_high, overlong_three,
                            overlong_four, surrogate_low, surrogate_high, above_last, never_a_lead,
                            latin1, cut_short, broken_third, broken_fourth, "\xFF", "\xFE"}) {
    EXPECT_EQ(first_invalid_utf8(bytes), 0u) << testing::PrintToString(bytes);
    EXPECT_EQ(first_invalid_utf8(std::string("aé") + bytes), 3u) << testing::PrintToString(bytes);
  }
}

TEST(Utf8, CombiningMarksAreCodePointsOfTheirOwn) {
  EXPECT_THAT(code_points("e\u0301a🙂"), ElementsAre("e", "\u0301", "a", "🙂"));
  EXPECT_THAT(code_points(""), ElementsAre());
}

TEST(Utf8, BlankTextIsEmptyOrWhiteSpace) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \t\r\f"));
  EXPECT_TRUE(is_blank("\u00A0\u3000\u2028"));
  EXPECT_FALSE(is_blank("  a"));
  EXPECT_FALSE(is_blank("\u200B"));  // zero width, but no white space
  EXPECT_FALSE(is_blank(std::string_view("\0", 1)));
}

TEST(Utf8, AnExcerptIsShortAndHasNoControlCharacters) {
  EXPECT_EQ(excerpt("ü\t\x7F"), "ü\uFFFD\uFFFD");
  EXPECT_EQ(excerpt(std::string(40, 'a')), std::string(40, 'a'));
  EXPECT_EQ(excerpt(std::string(41, 'a')), std::string(40, 'a') + "…");
}

TEST(Utf8, SplitsAtRunsOfAsciiWhiteSpace) {
  EXPECT_THAT(split_at_ascii_space(" a\t b\u00A0c\r\n"), ElementsAre("a", "b\u00A0c"));
  EXPECT_THAT(split_at_ascii_space(" \f\v"), ElementsAre());
}

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

TEST(Unicode, LettersAreTheCategoriesFromLuToLoAndTheirMarks) {
  for (char32_t c : std::u32string_view(U"Aaǅʰ中\u0301\u0903\u20DD")) {  // Lu Ll Lt Lm Lo Mn Mc Me
    EXPECT_TRUE(is_letter(c)) << encode_utf8({&c, 1});
  }
  for (char32_t c : std::u32string_view(U"0².+ €\u200B")) {
    EXPECT_FALSE(is_letter(c)) << encode_utf8({&c, 1});
  }
}

TEST(Unicode, WhiteSpaceIsPythons) {
  std::u32string found;
  for (char32_t c = 0; c <= 0x3001; ++c) {
    if (is_space(c)) found += c;
  }
  EXPECT_EQ(
      found,
      U"\t\n\v\f\r\x1C\x1D\x1E\x1F \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
      U"\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000");
}

TEST(Unicode, WordsAreSplitAtAnyWhiteSpace) {
  EXPECT_THAT(split_words(U" \u3000a b\t\u00A0c\u2028\x1F"), ElementsAre(U"a", U"b", U"c"));
  EXPECT_THAT(split_words(U"a\u200Bb"), ElementsAre(U"a\u200Bb"));  // zero width: no space
  EXPECT_TRUE(split_words(U" ").empty());
  EXPECT_EQ(word_count(" ä\u00A0b "), 2);
}

TEST(Unicode, ToLowerChangesOnlyCapitals) {
  EXPECT_EQ(to_lower(U"ÀÉ ẞß Ж ǅ Ⓐ 中1."), U"àé ßß ж ǆ ⓐ 中1.");
}

TEST(Unicode, CapitalIWithDotKeepsItsDot) {
  EXPECT_EQ(to_lower(U"\u0130"), U"i\u0307");
}

TEST(Unicode, SigmaIsFinalAtTheEndOfAWordOnly) {
  EXPECT_EQ(to_lower(U"ΟΔΟΣ ΣΟΦΟΣ."), U"οδος σοφος.");
  EXPECT_EQ(to_lower(U"Σ"), U"σ");  // no letter before it
  for (const auto* cased : {U"Ⓐ", U"\U0001F130", U"\U0001F150", U"\U0001F170", U"Ⅷ", U"ª"}) {
    const std::u32string word = cased;
    EXPECT_EQ(to_lower(word + U"Σ").back(), U'ς') << encode_utf8(word);
  }
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
}  // namespace regard::unicode_test
