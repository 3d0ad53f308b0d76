#include "base/terminal_text.h"

#include <gtest/gtest.h>

namespace regard {
namespace {

TEST(TerminalText, WhatATerminalWouldActUponIsWrittenOut) {
  EXPECT_EQ(for_terminal("a\tb\nü"), "a\tb\nü");
  EXPECT_EQ(for_terminal("a\x1b[31m"), "a\\x1B[31m");
  EXPECT_EQ(for_terminal("\xC2\x9B"
                         "1m"),
            "\\u009B1m");
}

TEST(TerminalText, BrokenUtf8HidesNothing) {
  EXPECT_EQ(for_terminal("\xE2\x1b["), "\xE2\\x1B[");
  EXPECT_EQ(for_terminal("\xF0\x1b\x07"), "\xF0\\x1B\\x07");
}

}  // namespace
}  // namespace regard
