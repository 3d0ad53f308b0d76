#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/alignment_picture.h"
#include "tests/report/xml_check.h"

namespace regard::page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Page, IsWellFormedAndEscapesText) {
  const auto page =
      html_page("<b> & \"b\"", scale_switch(WeightScale::absolute),
                page_section("a < b", page_note("1 < 2") + page_details("c & d", "")));
  EXPECT_EQ(find_xml_fault(page), "");
  EXPECT_THAT(page, HasSubstr("<h1>&lt;b&gt; &amp; &quot;b&quot;</h1>"));
  EXPECT_THAT(page, HasSubstr("<h2>a &lt; b</h2>"));
  EXPECT_THAT(page, HasSubstr("<summary>c &amp; d</summary>"));
  EXPECT_THAT(page_section("", "text"), Not(HasSubstr("<h2>")));
}

TEST(Page, IsSelfContainedAndAdaptsToThemeAndPhone) {
  const auto page = html_page("t", "", "");
  EXPECT_EQ(count_of(page, "http"), 0U);
  EXPECT_EQ(count_of(page, "url("), 0U);
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, HasSubstr("name=\"viewport\""));
}

TEST(Page, StyleAndScriptDoNotEndTheirElements) {
  for (const std::string part : {page_style, page_script}) {
    EXPECT_THAT(part, Not(HasSubstr("</")));
    EXPECT_THAT(part, Not(HasSubstr("<!--")));
  }
}

}  // namespace
}  // namespace regard::page_test
