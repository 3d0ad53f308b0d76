#include "base/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace regard::terminal_test {
namespace {

// Sets the variables of the locale; nullptr unsets one.
void set_locale(const char* all, const char* type, const char* lang) {
  for (const auto& [name, value] : {std::pair{"LC_ALL", all}, {"LC_CTYPE", type}, {"LANG", lang}}) {
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
}

TEST(TerminalTest, TheFirstVariableThatIsSetTellsTheEncoding) {
  const auto utf8 = [] { return terminal_at(STDOUT_FILENO).utf8; };
  set_locale(nullptr, nullptr, nullptr);
  EXPECT_TRUE(utf8());
  set_locale("C", nullptr, "fr_FR.UTF-8");
  EXPECT_FALSE(utf8());
  set_locale("", "POSIX", "fr_FR.UTF-8");
  EXPECT_FALSE(utf8());
  set_locale(nullptr, nullptr, "fr_FR.ISO-8859-1");
  EXPECT_FALSE(utf8());
  set_locale("C.utf8", "C", "C");
  EXPECT_TRUE(utf8());
}

TEST(TerminalTest, TextOfRegardIsInTheCharactersOfTheLocale) {
  const std::string text = "12 × 3 → 36, … ─ café";
  set_locale("C", nullptr, nullptr);
  EXPECT_EQ(in_locale(text), "12 x 3 -> 36, ... - café");
  set_locale("C.UTF-8", nullptr, nullptr);
  EXPECT_EQ(in_locale(text), text);
  EXPECT_EQ(to_ascii("|█▓▒░·|…", "~"), "|@#+:.|~");
}

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
