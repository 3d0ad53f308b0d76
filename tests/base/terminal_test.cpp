#include "base/terminal.h"

#include <gtest/gtest.h>

namespace regard::terminal_test {
namespace {

TEST(TerminalTest, LongLinesAreBrokenBelowTheirDescription) {
  EXPECT_EQ(wrap_lines("short\n  --size N    one two three four\n", 25),
            "short\n"
            "  --size N    one two\n"
            "              three four\n");
  EXPECT_EQ(wrap_lines("warning: a/path/that/is/longer/than/a/line is missing", 20),
            "warning:\n"
            "a/path/that/is/longer/than/a/line\n"
            "is missing");
  EXPECT_EQ(wrap_lines("    indented words of a paragraph", 20),
            "    indented words\n"
            "    of a paragraph");
  EXPECT_EQ(wrap_lines("é è ê ë", 7), "é è ê ë");  // seven characters, more bytes
  EXPECT_EQ(wrap_lines("", 10), "");
}

}  // namespace
}  // namespace regard::terminal_test
