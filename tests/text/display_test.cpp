#include "text/display.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace regard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::pair<std::string, std::size_t>> shown(std::string_view text) {
  std::vector<std::pair<std::string, std::size_t>> glyphs;
  for (const auto& glyph : glyphs_of(text)) glyphs.emplace_back(glyph.text, glyph.columns);
  return glyphs;
}

TEST(Display, LettersTakeOneColumnAndWideCharactersTwo) {
  EXPECT_THAT(shown("aß▁"),
              ElementsAre(std::pair("a", 1U), std::pair("ß", 1U), std::pair("▁", 1U)));
  EXPECT_THAT(shown("日本"), ElementsAre(std::pair("日", 2U), std::pair("本", 2U)));
  EXPECT_THAT(shown("한Ａ"), ElementsAre(std::pair("한", 2U), std::pair("Ａ", 2U)));
  EXPECT_THAT(shown(""), IsEmpty());
}

TEST(Display, CombiningMarksBelongToTheirLetter) {
  EXPECT_THAT(shown("e\u0301x"), ElementsAre(std::pair("e\u0301", 1U), std::pair("x", 1U)));
  EXPECT_THAT(shown("ก\u0E49"), ElementsAre(std::pair("ก\u0E49", 1U)));
  EXPECT_THAT(shown("\u1112\u1161\u11AB"), ElementsAre(std::pair("\u1112\u1161\u11AB", 2U)));
}

TEST(Display, EmojiAreOneCharacterOfTwoColumnsHoweverManyPointsTheyHave) {
  for (const std::string emoji : {"👍", "👍🏽", "👩‍👩‍👧", "🇫🇷", "❤️"}) {
    EXPECT_THAT(shown(emoji), ElementsAre(std::pair(emoji, 2U)));
  }
}

TEST(Display, BytesThatAreNotUtf8TakeOneColumnEach) {
  EXPECT_THAT(shown("a\xFF\xFE"),
              ElementsAre(std::pair("a", 1U), std::pair("\xFF", 1U), std::pair("\xFE", 1U)));
}

}  // namespace
}  // namespace regard
