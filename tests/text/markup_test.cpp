// Markup is taken out of lines.
#include "text/markup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"

namespace regard::markup_test {
namespace {

using testing::ElementsAre;

constexpr MarkupKinds markup{.tags = true, .placeholders = true};

std::vector<std::string> taken(const std::string& line, const MarkupKinds& kinds) {
  std::vector<std::string> bytes;
  for (const auto& mark : take_out(line, kinds).marks) bytes.push_back(mark.bytes);
  return bytes;
}

TEST(Markup, WhatLooksLikeMarkupAndIsTextStays) {
  for (const std::string text :
       {"a < b and c > d", "x<5", "3 <4> 5", "100 % sure", "50%discount", "$5.00 or $10", "{a, b}",
        "a <b", "<b <i", "<b x=\"", "{", "{x y}", "%", "$", "<!-- a"}) {
    EXPECT_EQ(take_out(text, markup).text, text);
    EXPECT_THAT(taken(text, markup), ElementsAre()) << text;
  }
  EXPECT_EQ(take_out("<b>x</b>", {}).text, "<b>x</b>");
  EXPECT_EQ(take_out("<fr> a", markup, {"<fr>"}).text, "<fr> a");
}

TEST(Markup, ModelSeesTheTextWithoutItsMarkupAndDoubleSpaces) {
  EXPECT_EQ(take_out("a <b> c </b> d<br/>e <img src=x> f", markup).text, "a c d e f");
  EXPECT_EQ(take_out("a.<br/>b", markup).text, "a. b");
  EXPECT_EQ(take_out("un<b>believ</b>able {x} .", markup).text, "unbelievable .");
  EXPECT_EQ(take_out("  {x} a {y} ", markup).text, "  a ");
  EXPECT_EQ(take_out("见{x}个", markup).text, "见个");
}

TEST(Markup, FindsUrlsAndAddresses) {
  constexpr MarkupKinds urls{.urls = true};
  EXPECT_THAT(
      taken("see https://a.org/b?c=1&d=(e)#f, www.x.de. (http://y.z/w) or me@x-y.org.", urls),
      ElementsAre("https://a.org/b?c=1&d=(e)#f", "www.x.de", "http://y.z/w", "me@x-y.org"));
  EXPECT_THAT(taken("和http://é.cn/路。a@b @c.de x://", urls), ElementsAre("http://é.cn/"));
}

TEST(Markup, FindsNumbers) {
  constexpr MarkupKinds numbers{.numbers = true};
  EXPECT_THAT(taken("12 of 1,000.50 at 12:30, -5 (3/4) 7.", numbers),
              ElementsAre("12", "1,000.50", "12:30", "-5", "3/4", "7"));
  EXPECT_THAT(taken("5km A4 mp3 v1.2 x_1", numbers), ElementsAre());
}

// A tenth of a second on an idle core; minutes, if each beginning of a mark were followed to the
// end of the line.
TEST(Markup, TimeIsLinearInTheLengthOfALine) {
  const auto repeated = [](const std::string& piece, const std::string& end) {
    std::string line;
    while (line.size() < 200'000) line += piece;
    return line + end;
  };
  for (const auto& line :
       {repeated("<!--", ""), repeated("%(", ")"), "www." + repeated(")", ""), repeated("a+", ""),
        repeated("1:", "1x"), repeated("a+", "://") + repeated(".", "")}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(take_out(line, {true, true, true, true}).text, line);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), 5) << line.substr(0, 6);
  }
}

TEST(Markup, NamesOfKindsAreChecked) {
  EXPECT_TRUE(markup_kinds(true, {}).placeholders);
  EXPECT_FALSE(markup_kinds(false, {"urls", "numbers"}).tags);
  EXPECT_FALSE(markup_kinds(false, {}).any());
  EXPECT_THROW(markup_kinds(false, {"dates"}), ConfigError);
}

}  // namespace
}  // namespace regard::markup_test
