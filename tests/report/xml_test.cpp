#include "report/xml.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/report/xml_check.h"

namespace regard {
namespace {

TEST(Xml, MarkupCharactersAreEscaped) {
  EXPECT_EQ(escape_xml("<a href=\"x\">'&amp;"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;");
}

TEST(Xml, EveryScriptPassesUnchanged) {
  for (const char* text : {"▁économique", "смотрят", "שלום", "中文", "👍🏽", "a\tb\n"})
    EXPECT_EQ(escape_xml(text), text);
}

TEST(Xml, WhatXmlForbidsIsReplaced) {
  EXPECT_EQ(escape_xml("a\x01z"), "a\uFFFDz");
  EXPECT_EQ(escape_xml("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(escape_xml("\xC3"), "\uFFFD");                      // cut short
  EXPECT_EQ(escape_xml("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(escape_xml("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(escape_xml("\xEF\xBF\xBF"), "\uFFFD");              // U+FFFF
  EXPECT_EQ(escape_xml("\xEF\xBF\xBD"), "\uFFFD");              // was one already
  EXPECT_EQ(escape_xml(std::string_view("\0", 1)), "\uFFFD");
}

TEST(Xml, CoordinatesAreShortAndFinite) {
  EXPECT_EQ(format_coordinate(12.0), "12");
  EXPECT_EQ(format_coordinate(3.5), "3.5");
  EXPECT_EQ(format_coordinate(100.0), "100");
  EXPECT_EQ(format_coordinate(-0.001), "0");
  EXPECT_EQ(format_coordinate(std::nan("")), "0");
}

TEST(Xml, WideCharactersTakeMoreRoomAndMarksNone) {
  EXPECT_GT(estimate_text_width("中文"), estimate_text_width("ab"));
  EXPECT_EQ(estimate_text_width("e\u0301"), estimate_text_width("e"));
}

TEST(XmlCheck, FindsFaults) {
  EXPECT_EQ(find_xml_fault("<a b=\"1\"><c/>x &lt; y</a>"), "");
  EXPECT_NE(find_xml_fault("<a><b></a></b>"), "");
  EXPECT_NE(find_xml_fault("<a>"), "");
  EXPECT_NE(find_xml_fault("<a>x < y</a>"), "");
  EXPECT_NE(find_xml_fault("<a>x & y</a>"), "");
}

}  // namespace
}  // namespace regard
