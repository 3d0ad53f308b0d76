#include "text/utf8.h"

#include <gmock/gmock.h>

namespace regard {
namespace {

using testing::ElementsAre;
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

}  // namespace
}  // namespace regard
