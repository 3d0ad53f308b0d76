#include "data/line_checks.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/data/files.h"

namespace regard {
namespace {

TEST(LineChecks, TheLongestLineGrowsWithTheLongestSentence) {
  DataOptions options;
  EXPECT_EQ(longest_line(options), 8192U);
  options.max_length = 1000;
  EXPECT_EQ(longest_line(options), 64'000U);
}

TEST(LineChecks, ALineIsCutBetweenCodePointsAndOnlyWhereItIsTooLong) {
  std::string line = "abüü";
  EXPECT_FALSE(cut_long_line(line, 6, "text", 3));
  EXPECT_EQ(line, "abüü");
  const auto warning = cut_long_line(line, 5, "text", 3);
  EXPECT_EQ(line, "abü");
  EXPECT_EQ(warning, "text:3: the line has 6 bytes, of which only the first 4 are read; split it");
}

TEST(LineChecks, CountsThatDifferNameTheFirstLineBreakOfAnotherProgram) {
  const TestFolder folder;
  const auto plain = folder.write("plain", "a\nb\nc\n");
  const auto odd = folder.write("odd", "a\r\nb\u2028c\rd\n");
  EXPECT_NO_THROW(check_line_counts(plain, 3, odd, 3));
  EXPECT_THAT([&] { check_line_counts(plain, 3, odd, 1); },
              testing::ThrowsMessage<InputError>(
                  plain + " has 3 lines, but " + odd +
                  " has 1 line: line i of one must belong to line i of the other (" + odd +
                  ":2 has a lone carriage return, which ends no line here)"));
  const auto no_text = folder.write("no_text", "a\n\xFF\n");
  EXPECT_THAT([&] { check_line_counts(plain, 3, no_text, 2); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("no_text:2: byte 1")));
}

}  // namespace
}  // namespace regard
