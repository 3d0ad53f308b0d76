#include "report/search_tree_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <stdexcept>

#include "tests/report/svg_labels.h"
#include "tests/report/xml_check.h"

namespace regard::search_tree_picture_test {
namespace {

using testing::HasSubstr;

// "a b </s>" (best), "a c </s>", and "d", which is pruned.
SearchTreePicture example() {
  return {{{"d", -1, -2.0, {}},
           {"a", -1, -0.5, {}},
           {"c", 1, -1.5, {}},
           {"b", 1, -0.6, {}},
           {"</s>", 3, -0.7, -0.35},
           {"</s>", 2, -1.6, -0.8}}};
}

struct Place {
  double x;
  double y;
};

Place place_of(const std::string& svg, const std::string& token) {
  std::smatch match;
  const std::regex text("<text [^>]*x=\"([0-9.]+)\" y=\"([0-9.]+)\"[^>]*>" + token + "<");
  if (!std::regex_search(svg, match, text)) return {-1, -1};
  return {std::stod(match[1]), std::stod(match[2])};
}

TEST(SearchTreePicture, StepsGoRightAndProbableNodesAreAbove) {
  const auto svg = search_tree_svg(example());
  EXPECT_EQ(find_xml_fault(svg), "");
  const auto a = place_of(svg, "a"), b = place_of(svg, "b"), c = place_of(svg, "c"),
             d = place_of(svg, "d");
  EXPECT_EQ(a.x, d.x);
  EXPECT_EQ(b.x, c.x);
  EXPECT_LT(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_LT(b.y, c.y);
  EXPECT_LT(c.y, d.y);
}

TEST(SearchTreePicture, MarksTheBestPathAndPrunedBranches) {
  const auto svg = search_tree_svg(example());
  EXPECT_EQ(count_of(svg, "class=\"node best\""), 3U);
  EXPECT_EQ(count_of(svg, "class=\"twig best\""), 2U);
  EXPECT_EQ(count_of(svg, "class=\"node dead\""), 1U);
  EXPECT_EQ(count_of(svg, "class=\"node\""), 2U);
}

TEST(SearchTreePicture, ShowsScoresAndProbabilities) {
  const auto svg = search_tree_svg(example());
  EXPECT_THAT(svg, HasSubstr(">-0.350</tspan>"));
  EXPECT_THAT(svg, HasSubstr("P 0.905, so far log P -0.600"));  // e^-0.1
  EXPECT_THAT(svg, HasSubstr("score -0.3500"));
}

TEST(SearchTreePicture, LabelsStayInsideAndDoNotOverlap) {
  auto picture = example();
  for (auto& node : picture.nodes) node.token = "▁WWWmmm";
  picture.nodes[4].score = -1234.5678;
  const auto svg = search_tree_svg(picture);
  EXPECT_EQ(find_clipped_label(svg), "");
  const auto labels = labels_of(svg);
  for (const auto& one : labels) {
    for (const auto& other : labels) {
      const bool same_row = one.top < other.bottom && other.top < one.bottom;
      if (one.left < other.left && same_row) {
        EXPECT_LT(one.right, other.left) << one.text;
      }
    }
  }
}

TEST(SearchTreePicture, DrawsAnEmptyTreeAndRefusesAnInvalidOne) {
  EXPECT_EQ(find_xml_fault(search_tree_svg({})), "");
  SearchTreePicture invalid = example();
  invalid.nodes[0].previous = 3;
  EXPECT_THROW(search_tree_svg(invalid), std::invalid_argument);
}

}  // namespace
}  // namespace regard::search_tree_picture_test
