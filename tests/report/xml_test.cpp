#include "report/xml.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/report/xml_check.h"

namespace regard::xml_test {
namespace {

TEST(Xml, EscapesMarkupCharacters) {
  EXPECT_EQ(escape_xml("<a href=\"x\">'&amp;"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;");
}

TEST(Xml, KeepsTextInEveryScript) {
  for (const char* text : {"▁économique", "смотрят", "שלום", "中文", "👍🏽", "a\tb\n"})
    EXPECT_EQ(escape_xml(text), text);
}

TEST(Xml, ReplacesCharactersForbiddenInXml) {
  EXPECT_EQ(escape_xml("a\x01z"), "a\uFFFDz");
  EXPECT_EQ(escape_xml("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(escape_xml("\xC3"), "\uFFFD");                      // cut short
  EXPECT_EQ(escape_xml("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(escape_xml("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(escape_xml("\xEF\xBF\xBF"), "\uFFFD");              // U+FFFF
  EXPECT_EQ(escape_xml("\xEF\xBF\xBD"), "\uFFFD");              // unchanged
  EXPECT_EQ(escape_xml(std::string_view("\0", 1)), "\uFFFD");
}

TEST(Xml, CoordinatesAreShortAndFinite) {
  EXPECT_EQ(format_coordinate(12.0), "12");
  EXPECT_EQ(format_coordinate(3.5), "3.5");
  EXPECT_EQ(format_coordinate(100.0), "100");
  EXPECT_EQ(format_coordinate(-0.001), "0");
  EXPECT_EQ(format_coordinate(std::nan("")), "0");
}

TEST(Xml, WideCharactersAreWiderAndMarksHaveNoWidth) {
  EXPECT_GT(estimate_text_width("中文"), estimate_text_width("ab"));
  EXPECT_EQ(estimate_text_width("e\u0301"), estimate_text_width("e"));
}

// Widths as Chromium 156 measures them (getComputedTextLength), in units of the font size.
TEST(Xml, TextWidthsAreAtMostTenPercentAboveDejaVuSans) {
  struct Measured {
    const char* text;
    double regular;
    double bold;
  };
  for (const auto& [text, regular, bold] :
       std::vector<Measured>{{"100,000", 4.135, 4.555},
                             {"Speed, target tokens a second", 15.261, 17.243},
                             {"▁comprehension", 8.471, 9.417},
                             {"</s>", 2.534, 2.636},
                             {"BLEU, 95 % confidence", 11.575, 12.822},
                             {"Www.MMW@%", 7.515, 8.362},
                             {"▁Straßenbahnhöfe", 9.427, 10.571},
                             {"œuvre Ægir", 5.869, 6.614},
                             {"ЩЖЮдомашнийщ", 9.732, 10.970},
                             {"Ωμέγας", 3.779, 4.104},
                             {"iiiiilllll..", 3.414, 4.188},
                             {"-12.345", 3.860, 4.274},
                             {"«n’est» – oui — …", 8.999, 9.770}}) {
    EXPECT_GE(estimate_text_width(text), regular) << text;
    EXPECT_LE(estimate_text_width(text), 1.1 * regular) << text;
    EXPECT_GE(estimate_text_width(text, FontWeight::bold), bold) << text;
    EXPECT_LE(estimate_text_width(text, FontWeight::bold), 1.1 * bold) << text;
  }
}

TEST(Xml, TruncatesTextToAWidth) {
  EXPECT_EQ(truncate_to_text_width("short", 3.0), "short");
  const auto cut = truncate_to_text_width("a long label", 5.0);
  EXPECT_EQ(cut, "a long l…");
  EXPECT_LE(estimate_text_width(cut), 5.0);
}

TEST(XmlCheck, FindsFaults) {
  EXPECT_EQ(find_xml_fault("<a b=\"1\"><c/>x &lt; y</a>"), "");
  EXPECT_NE(find_xml_fault("<a><b></a></b>"), "");
  EXPECT_NE(find_xml_fault("<a>"), "");
  EXPECT_NE(find_xml_fault("<a>x < y</a>"), "");
  EXPECT_NE(find_xml_fault("<a>x & y</a>"), "");
}

}  // namespace
}  // namespace regard::xml_test
