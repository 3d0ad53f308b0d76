#include "text/decomposed_words.h"

#include <gmock/gmock.h>

#include "text/unicode.h"

namespace regard::decomposed_words_test {
namespace {

TEST(SplitComposed, SplitsSyllablesAndLettersWithMarks) {
  EXPECT_EQ(split_composed("한 é"), "ᄒ ￭ᅡ ￭ᆫ e ￭\u0301");
  EXPECT_EQ(split_composed("ế"), "e ￭\u0302 ￭\u0301");
}

TEST(SplitComposed, LeavesLongerWordsAndOtherCharacters) {
  EXPECT_EQ(split_composed("été  한국 x 漢 \u0301"), "été 한국 x 漢 \u0301");
  EXPECT_EQ(split_composed(""), "");
}

TEST(SplitComposed, LeavesCharactersThatAreNotComposedAgain) {
  EXPECT_EQ(split_composed("\u212B"), "\u212B");  // the angstrom sign, whose composition is Å
  EXPECT_EQ(split_composed("\u0958"), "\u0958");  // excluded from composition
}

TEST(JoinParts, IsTheInverseForEveryCharacter) {
  int split = 0;
  for (char32_t c = 0x21; c < 0x30000; ++c) {
    const bool is_surrogate = c >= 0xD800 && c < 0xE000;
    if (is_surrogate || is_later_part(encode_utf8({&c, 1}))) continue;
    const auto line = "a " + encode_utf8({&c, 1}) + " b";
    const auto parts = split_composed(line);
    split += parts == line ? 0 : 1;
    ASSERT_EQ(join_parts(split_at_ascii_space(parts)), line) << static_cast<std::uint32_t>(c);
  }
  EXPECT_GT(split, 12'000);  // 11,172 Korean syllables, and letters with marks
}

TEST(JoinParts, JoinsWhatBeginsWithTheJoiner) {
  EXPECT_EQ(join_parts({"ᄒ", "￭ᅡ", "x", "￭y", "￭"}), "하 xy ￭");
  EXPECT_EQ(join_parts({"￭ᅡ", "x"}), "￭ᅡ x");
  EXPECT_EQ(join_parts({}), "");
}

}  // namespace
}  // namespace regard::decomposed_words_test
