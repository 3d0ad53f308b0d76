// The texts of HTML documents.
#include "translation/html_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "translation/mark_placement.h"

namespace regard::html_segments_test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::vector<std::string> texts(const std::string& document) {
  std::vector<std::string> found;
  for (const auto& segment : html_segments(document, {}, {})) {
    if (!segment.line.text.empty()) found.push_back(segment.line.text);
  }
  return found;
}

// The document with changed texts: each byte attends to its place.
std::string changed(const std::string& document, int (*change)(int)) {
  std::string result;
  for (const auto& segment : html_segments(document, {}, {})) {
    auto text = segment.line.text;
    std::ranges::transform(text, text.begin(), [&](unsigned char c) { return change(c); });
    std::vector<TextRange> characters;
    std::vector<std::vector<float>> weights;
    for (std::size_t i = 0; i < text.size(); ++i) {
      characters.push_back({i, i + 1});
      weights.emplace_back(text.size(), 0.F).at(i) = 1;
    }
    result += segment.output(put_back(segment.line, {text, characters, characters, &weights}));
  }
  return result;
}

std::string upper(const std::string& document) {
  return changed(document, [](int c) { return std::toupper(c); });
}

TEST(HtmlSegments, BlocksAreSegmentsAndInlineElementsAreNot) {
  EXPECT_THAT(texts("<!doctype html><html><head><title>A &amp; b</title></head><body>"
                    "<h1>Head</h1><p>One <b>two</b>\n  three<br>four.<p>Five<ul><li>six<li>seven"
                    "</ul>eight<table><tr><td>nine<td>ten</table></body></html>"),
              ElementsAre("A & b", "Head", "One two three", "four.", "Five", "six", "seven",
                          "eight", "nine", "ten"));
}

TEST(HtmlSegments, EverythingElseKeepsItsBytes) {
  const std::string page =
      "\r\n<!DOCTYPE HTML>\n<!-- c > --><HTML lang=\"en\"><Head>\n<title>t &amp; "
      "&lt;u&gt;</title>\n"
      "<script>if (a < b) { x(\"<p>no</p>\"); }</script><style>p > a { b: c }</style></Head>\n"
      "<body class='x\"y'>\n  <p  >  Hello <a HREF=\"x>y&z\">big</a>,\n\tworld!  </p>\n"
      "<pre>\n no  </pre><p>see <code>x &amp; y</code> and <span translate=no>Foo</span>.</p>"
      "<textarea>no</textarea><p class=\"a notranslate\">no</p><div>  <img alt=\"no\"> caf&eacute; "
      "</div><p>12 &mdash; 5</p></body></HTML>\n\n";
  const std::string expected =
      "\r\n<!DOCTYPE HTML>\n<!-- c > --><HTML lang=\"en\"><Head>\n<title>T &amp; "
      "&lt;U&gt;</title>\n"
      "<script>if (a < b) { x(\"<p>no</p>\"); }</script><style>p > a { b: c }</style></Head>\n"
      "<body class='x\"y'>\n  <p  >  HELLO <a HREF=\"x>y&z\">BIG</a>, WORLD!  </p>\n"
      "<pre>\n no  </pre><p>SEE <code>x &amp; y</code> AND <span translate=no>Foo</span>.</p>"
      "<textarea>no</textarea><p class=\"a notranslate\">no</p><div>  <img alt=\"no\"> CAFé "
      "</div><p>12 &mdash; 5</p></body></HTML>\n\n";
  EXPECT_EQ(upper(page), expected);
}

TEST(HtmlSegments, BrokenMarkupLosesNothing) {
  for (const std::string page : {"",
                                 "a",
                                 "<",
                                 "</",
                                 "<p",
                                 "</p>a",
                                 "a</div>b",
                                 "<b>a<p>b</b>c",
                                 "<b><i>a</b> c</i>",
                                 "<table>a<tr>b<td>c</table>d",
                                 "<a><a>b</a>",
                                 "<p>a</p></b></body>c</html>d<!--",
                                 "&",
                                 "<svg><p>a</svg>b",
                                 "a <x-y>b</x-y>",
                                 "<select><option>a<option>b</select>",
                                 "<script>a",
                                 "<pre>a",
                                 "<code>a<p>b",
                                 "a <b>\xE8\xAF\x8D</b>"}) {
    EXPECT_EQ(changed(page, [](int c) { return c; }), page);
  }
  EXPECT_EQ(upper("a</div>b"), "A</div>B");
  EXPECT_EQ(upper("<b>a<p>b</b>c"), "<b>A<p>B</b>C");
  EXPECT_EQ(upper("<b>a <i>b</b> c</i>"), "<b>A <i>B</b> C</i>");
}

TEST(HtmlSegments, DeepAndLongDocumentsAreParsed) {
  std::string deep;
  for (int i = 0; i < 20000; ++i) deep += "<div>";
  EXPECT_THAT(texts(deep + "a"), ElementsAre("a"));
  EXPECT_EQ(upper(deep + "a"), deep + "A");
}

TEST(HtmlSegments, SegmentsHaveTheirLines) {
  std::vector<std::int64_t> lines;
  for (const auto& segment : html_segments("<p>a\nb</p>\n\n<p>c", {}, {})) {
    lines.push_back(segment.number);
  }
  EXPECT_THAT(lines, ElementsAre(1, 4));
}

TEST(HtmlSegments, PlaceholdersOfTheTextAreTakenOutToo) {
  const auto segments = html_segments("<p>see {x} at http://a.b/?c&amp;d</p>",
                                      {.placeholders = true, .urls = true}, {});
  ASSERT_THAT(segments, SizeIs(1));
  EXPECT_EQ(segments[0].line.text, "see at");
  EXPECT_EQ(segments[0].line.marks.back().bytes, "http://a.b/?c&amp;d");
}

}  // namespace
}  // namespace regard::html_segments_test
