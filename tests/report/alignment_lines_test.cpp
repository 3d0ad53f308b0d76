#include "report/alignment_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/report/svg_labels.h"
#include "tests/report/xml_check.h"

namespace regard {
namespace {

using testing::HasSubstr;

AlignmentLines example() {
  return {{"They", "watch"},
          {"Ils", "re<gardent", "."},
          {{0.9F, 0.1F}, {0.02F, 0.98F}, {0.04F, 0}},
          {{0, 0}, {1, 1}}};
}

TEST(AlignmentLines, DrawsLinksAndLargeWeights) {
  const auto svg = alignment_lines(example());
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_EQ(count_of(svg, "class=\"link\""), 2U);
  EXPECT_EQ(count_of(svg, "class=\"soft\""), 3U);
  EXPECT_THAT(svg, HasSubstr("stroke-opacity=\"0.90\"><title>They → Ils  0.900</title>"));
  EXPECT_THAT(svg, HasSubstr(">re&lt;gardent</text>"));
}

TEST(AlignmentLines, SpreadsTheShorterSideOverTheSameHeight) {
  const auto svg = alignment_lines(example());  // three rows of 24
  for (const auto* y : {"y=\"18\"", "y=\"54\"", "y=\"12\"", "y=\"36\"", "y=\"60\""})
    EXPECT_THAT(svg, HasSubstr(y));
}

TEST(AlignmentLines, LabelsStayInsideThePicture) {
  for (const auto* word : {"mmmmmmmm", "WWWWWWWWWWWWWWWWWWWWW", "▁Ж", "%"}) {
    auto lines = example();
    lines.source[0] = lines.target[2] = word;
    EXPECT_EQ(find_clipped_label(alignment_lines(lines)), "") << word;
  }
}

TEST(AlignmentLines, WeightsAreOptional) {
  auto lines = example();
  lines.weights.clear();
  EXPECT_EQ(count_of(alignment_lines(lines), "<path"), 2U);
  EXPECT_EQ(find_xml_fault(alignment_lines({})), "");
}

TEST(AlignmentLines, RefusesLinksAndWeightsThatDoNotMatchTheWords) {
  auto lines = example();
  lines.links.push_back({2, 0});
  EXPECT_THROW(alignment_lines(lines), std::invalid_argument);
  lines = example();
  lines.weights.pop_back();
  EXPECT_THROW(alignment_lines(lines), std::invalid_argument);
}

}  // namespace
}  // namespace regard
