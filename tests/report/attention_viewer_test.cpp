#include "report/attention_viewer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/report/example_picture.h"
#include "tests/report/svg_labels.h"
#include "tests/report/xml_check.h"

namespace regard::attention_viewer_test {
namespace {

using testing::HasSubstr;
using testing::Not;

AttentionPicture example() {
  return example_picture(
      {{"mean", {0.9F, 0.1F, 0.0F, 0.0F, 0.4F, 0.6F}},
       {"layer 1, head 2", {1.0F, 0.0F, 0.0F, 0.001F, 0.999F, std::nanf("")}, {0, 1}}});
}

TEST(AttentionViewer, HasEachMapWithItsName) {
  const auto html = attention_viewer(example());
  EXPECT_EQ(find_xml_fault(html), "");
  EXPECT_THAT(html, HasSubstr("<option>mean</option><option>layer 1, head 2</option>"));
  // In units of 1/46655 and base 36: 41990, 4666, 0, 0, 18662, 27993; 46655, 0, 0, 47, 46608.
  EXPECT_THAT(html, HasSubstr("{&quot;weights&quot;:&quot;wee3lm000000eeelll&quot;}"));
  EXPECT_THAT(html,
              HasSubstr("{&quot;weights&quot;:&quot;zzz00000001bzyo---&quot;,&quot;chosen&quot;"
                        ":[0,1]}"));
}

TEST(AttentionViewer, ShowsWordsAndTheFirstMapWithoutScripts) {
  const auto html = attention_viewer(example(), {"P 0.9", "P < 0.1"});
  EXPECT_EQ(count_of(html, "width=\"1\" height=\"1\""), 6U);
  EXPECT_THAT(html, HasSubstr("<span class=\"s\">They</span>"));
  EXPECT_THAT(html, HasSubstr("<span class=\"t\" title=\"P &lt; 0.1\">regardent</span>"));
  EXPECT_THAT(html, HasSubstr("<title>Ils ← They  0.900</title>"));
}

TEST(AttentionViewer, SingleMapShowsItsNameWithoutSelector) {
  auto picture = example();
  picture.matrices.pop_back();
  const auto html = attention_viewer(picture);
  EXPECT_THAT(html, HasSubstr("<p class=\"note\">mean</p>"));
  EXPECT_THAT(html, HasSubstr("hidden=\"\"><button type=\"button\" data-go=\"map\""));
}

TEST(AttentionViewer, EscapesMarkupInWords) {
  auto picture = example();
  picture.source = {"<b>&\"'", "</script>", "\x01\xFF"};
  picture.matrices[1].caption = "\"><script>";
  EXPECT_EQ(find_xml_fault(attention_viewer(picture)), "");
}

TEST(AttentionViewer, IsEmptyWithoutMapsAndRefusesWrongOnes) {
  auto picture = example();
  picture.matrices[0].weights.pop_back();
  EXPECT_THROW(attention_viewer(picture), std::invalid_argument);
  picture.matrices.clear();
  EXPECT_EQ(attention_viewer(picture), "");
}

TEST(AttentionViewers, ShowEachKindBelowItsNameWithoutScripts) {
  auto picture = example();
  picture.matrices.pop_back();
  const auto html = attention_viewers({{"to the source", picture}, {"encoder < x", example()}});
  EXPECT_EQ(find_xml_fault(html), "");
  EXPECT_EQ(count_of(html, "class=\"viewer\""), 2U);
  EXPECT_THAT(html, HasSubstr("<option>to the source</option><option>encoder &lt; x</option>"));
  EXPECT_THAT(html, HasSubstr("<div class=\"kind\">\n<h3>encoder &lt; x</h3>"));
}

TEST(AttentionViewers, OneKindNeedsNoSelector) {
  EXPECT_EQ(attention_viewers({{"to the source", example(), {"a", "b"}}}),
            attention_viewer(example(), {"a", "b"}));
  EXPECT_EQ(attention_viewers({}), "");
}

AlignmentLines example_lines() {
  return {{"They", "watch"},
          {"Ils", "re<gardent", "."},
          {{0.9F, 0.1F}, {0.02F, 0.98F}, {0.04F, 0}},
          {{0, 0}, {1, 1}}};
}

TEST(AlignmentLines, DrawsLinksAndLargeWeights) {
  const auto svg = alignment_lines(example_lines());
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_EQ(count_of(svg, "class=\"link\""), 2U);
  EXPECT_EQ(count_of(svg, "class=\"soft\""), 3U);
  EXPECT_THAT(svg, HasSubstr("stroke-opacity=\"0.90\"><title>They → Ils  0.900</title>"));
  EXPECT_THAT(svg, HasSubstr(">re&lt;gardent</text>"));
}

TEST(AlignmentLines, SpreadsTheShorterSideOverTheSameHeight) {
  const auto svg = alignment_lines(example_lines());  // three rows of 24
  for (const auto* y : {"y=\"18\"", "y=\"54\"", "y=\"12\"", "y=\"36\"", "y=\"60\""})
    EXPECT_THAT(svg, HasSubstr(y));
}

TEST(AlignmentLines, LabelsStayInsideThePicture) {
  for (const auto* word : {"mmmmmmmm", "WWWWWWWWWWWWWWWWWWWWW", "▁Ж", "%"}) {
    auto lines = example_lines();
    lines.source[0] = lines.target[2] = word;
    EXPECT_EQ(find_clipped_label(alignment_lines(lines)), "") << word;
  }
}

TEST(AlignmentLines, WeightsAreOptional) {
  auto lines = example_lines();
  lines.weights.clear();
  EXPECT_EQ(count_of(alignment_lines(lines), "<path"), 2U);
  EXPECT_EQ(find_xml_fault(alignment_lines({})), "");
}

TEST(AlignmentLines, RefusesLinksAndWeightsThatDoNotMatchTheWords) {
  auto lines = example_lines();
  lines.links.push_back({2, 0});
  EXPECT_THROW(alignment_lines(lines), std::invalid_argument);
  lines = example_lines();
  lines.weights.pop_back();
  EXPECT_THROW(alignment_lines(lines), std::invalid_argument);
}

}  // namespace
}  // namespace regard::attention_viewer_test
