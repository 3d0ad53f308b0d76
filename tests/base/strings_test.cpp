#include "base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace regard::strings_test {
namespace {

using testing::ElementsAre;

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a.b..c", '.'), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split(".", '.'), ElementsAre("", ""));
  EXPECT_THAT(split("a b", '.'), ElementsAre("a b"));
  EXPECT_THAT(split("", '.'), ElementsAre(""));
}

TEST(ReplaceAll, ReplacesFromTheLeftAndNotInItsOwnText) {
  EXPECT_EQ(replace_all("aaa b", "aa", "a"), "aa b");
  EXPECT_EQ(replace_all("a&b&", "&", "&amp;"), "a&amp;b&amp;");
  EXPECT_EQ(replace_all("", "a", "b"), "");
}

TEST(ParseNumber, ReadsTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("2.5e-1"), 0.25);
  for (const auto* text : {"", " 1", "1 ", "+1", "1x", "one"}) {
    EXPECT_FALSE(parse_number<int>(text)) << text;
  }
  EXPECT_FALSE(parse_number<std::int32_t>("2147483648"));
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
}

TEST(Counted, OnlyOneIsSingular) {
  EXPECT_EQ(counted(0, "line"), "0 lines");
  EXPECT_EQ(counted(1, "line"), "1 line");
  EXPECT_EQ(counted(std::size_t{2}, "line"), "2 lines");
  EXPECT_EQ(counted(std::int64_t{-1}, "line"), "-1 lines");
}

TEST(Counted, InflectsTheLastWord) {
  EXPECT_EQ(counted(1, "training pair"), "1 training pair");
  EXPECT_EQ(counted(29'000, "training pair"), "29000 training pairs");
  EXPECT_EQ(counted(2, "batch"), "2 batches");
  EXPECT_EQ(counted(2, "entry"), "2 entries");
  EXPECT_EQ(counted(2, "key"), "2 keys");
  EXPECT_EQ(counted(3, "hypothesis"), "3 hypotheses");
  EXPECT_EQ(counted(3, "box"), "3 boxes");
}

TEST(LowerAscii, ChangesLettersOfAsciiOnly) {
  EXPECT_EQ(lower_ascii("aZ@[`{-É"), "az@[`{-É");
  EXPECT_EQ(lower_ascii(""), "");
}

TEST(ShellWord, QuotesWordsThatAShellWouldChange) {
  for (const std::string plain : {"a.yaml", "runs/été-2", "training.epochs=3", "a+b:c,d@e%f_"}) {
    EXPECT_EQ(shell_word(plain), plain);
  }
  EXPECT_EQ(shell_word("a b.yaml"), "'a b.yaml'");
  EXPECT_EQ(shell_word("both.csv#1"), "'both.csv#1'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  for (const std::string word : {"", "~/a", "$a", "a*", "a;b", "a\nb"}) {
    EXPECT_EQ(shell_word(word), "'" + word + "'");
  }
}

TEST(EscapeControls, EscapesControlCharacters) {
  EXPECT_EQ(escape_controls("a\tb\nü"), "a\tb\nü");
  EXPECT_EQ(escape_controls("a\x1b[31m"), "a\\x1B[31m");
  EXPECT_EQ(escape_controls("\xC2\x9B"
                            "1m"),
            "\\u009B1m");
}

TEST(EscapeControls, EscapesInsideInvalidUtf8) {
  EXPECT_EQ(escape_controls("\xE2\x1b["), "\xE2\\x1B[");
  EXPECT_EQ(escape_controls("\xF0\x1b\x07"), "\xF0\\x1B\\x07");
}

TEST(MatchesPattern, AStarStandsForAnyText) {
  EXPECT_TRUE(matches_pattern("encoder.layer0.W", "encoder.*"));
  EXPECT_TRUE(matches_pattern("encoder.layer0.W", "*"));
  EXPECT_TRUE(matches_pattern("encoder.layer0.W", "*.layer0.*"));
  EXPECT_TRUE(matches_pattern("encoder.layer0.W", "enc*er.*W"));
  EXPECT_TRUE(matches_pattern("W", "W"));
  EXPECT_TRUE(matches_pattern("W", "*W*"));
  EXPECT_FALSE(matches_pattern("encoder.layer0.W", "encoder"));
  EXPECT_FALSE(matches_pattern("encoder.layer0.W", "layer0.*"));
  EXPECT_FALSE(matches_pattern("aba", "ab*ba"));
  EXPECT_FALSE(matches_pattern("", "a*"));
  EXPECT_TRUE(matches_pattern("", "*"));
}

}  // namespace
}  // namespace regard::strings_test
