#include "report/image_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/report/svg_labels.h"
#include "tests/report/xml_check.h"

namespace regard::image_attention_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Four pixels in a row: three white ones and a red one, as two cells of 2 × 1 pixels.
AttentionPicture example() {
  AttentionPicture picture;
  picture.source = {"row 1, column 1", "row 1, column 2"};
  picture.target = {"red", "</s>"};
  picture.matrices = {{"soft", {0.25F, 0.75F, 1.0F, 0.0F}}};
  picture.image = Image{4, 1, {255, 255, 255, 255, 255, 255, 255, 255, 255, 200, 0, 1}};
  picture.grid_rows = 1;
  return picture;
}

TEST(ImageAttention, DrawsTheImageOnceAndAVeilOverEachCell) {
  const auto svg = alignment_svg(example());
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_EQ(count_of(svg, "<defs>"), 1U);
  EXPECT_EQ(count_of(svg, "<use "), 2U);
  EXPECT_THAT(svg, HasSubstr("fill=\"#ffffff\" d=\"M0 0h4v1h-4z\""));
  EXPECT_THAT(svg, HasSubstr("<path stroke=\"#c80001\" d=\"M3 0.5h1\"/>"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.6\"><title>red ← row 1, column 1  0.250</title>"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.2\"><title>red ← row 1, column 2  0.750</title>"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.8\"><title>&lt;/s&gt; ← row 1, column 2  0.000"));
  EXPECT_EQ(count_of(svg, "class=\"legend\""), 1U);
  EXPECT_THAT(svg, HasSubstr(">soft</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"frame\"")));
}

TEST(ImageAttention, FollowsTheScaleAndFramesChosenCells) {
  auto picture = example();
  picture.scale = WeightScale::row;
  picture.matrices[0].chosen = {1, -1};
  picture.matrices.push_back({"other", {0.0F, std::nanf(""), 0.0F, 0.0F}});
  const auto svg = alignment_svg(picture);
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0\"><title>red ← row 1, column 2"));
  EXPECT_EQ(count_of(svg, "class=\"frame\""), 1U);
  EXPECT_THAT(svg, HasSubstr("#c00"));
  EXPECT_THAT(svg, HasSubstr("the row's largest"));
}

TEST(ImageAttention, APageHasAnElementForEachMatrix) {
  auto picture = example();
  picture.matrices.push_back(picture.matrices[0]);
  const auto html = image_attention_elements(picture);
  EXPECT_EQ(find_xml_fault("<div>" + html + "</div>"), "");
  EXPECT_EQ(count_of(html, "class=\"veil\""), 2U);
  EXPECT_THAT(html, HasSubstr("data-weights=\"" + encode_weights(picture.matrices[0].weights)));
}

TEST(ImageAttention, LargeImagesAreReduced) {
  auto picture = example();
  picture.image = Image{200, 100, std::vector<std::uint8_t>(60'000, 100)};
  for (std::size_t i = 0; i < 3; ++i) picture.image->rgb[i] = 109;  // one of nine pixels of a block
  const auto svg = alignment_svg(picture);
  EXPECT_THAT(svg, HasSubstr("fill=\"#646464\" d=\"M0 0h67v34h-67z\""));
  EXPECT_THAT(svg, HasSubstr("<path stroke=\"#656565\" d=\"M0 0.5h1\"/>"));
}

TEST(ImageAttention, OtherSizesAreErrors) {
  auto picture = example();
  picture.grid_rows = 0;
  EXPECT_THROW(alignment_svg(picture), std::invalid_argument);
  picture.grid_rows = 3;
  EXPECT_THROW(alignment_svg(picture), std::invalid_argument);
  picture = example();
  picture.matrices[0].weights.pop_back();
  EXPECT_THROW(alignment_svg(picture), std::invalid_argument);
}

}  // namespace
}  // namespace regard::image_attention_test
