#include "report/alignment_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "report/page.h"
#include "report/xml.h"
#include "tests/report/example_picture.h"
#include "tests/report/svg_labels.h"
#include "tests/report/xml_check.h"

namespace regard::alignment_picture_test {
namespace {

using testing::HasSubstr;
using testing::Not;

AttentionPicture example() {
  return example_picture({{"additive", {0.9F, 0.1F, 0.0F, 0.0F, 0.4F, 0.6F}}});
}

TEST(AlignmentPicture, DrawsEachWeightInItsCell) {
  const std::string svg = alignment_svg(example());
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr("<rect x=\"0\" y=\"0\" width=\"1\" height=\"1\" fill=\"#e6e6e6\">"
                             "<title>Ils ← They  0.900</title>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"2\" y=\"1\" width=\"1\" height=\"1\" fill=\"#999999\">"
                             "<title>regardent ← .  0.600</title>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"1\" y=\"0\" width=\"1\" height=\"1\" fill=\"#1a1a1a\">"
                             "<title>Ils ← watch  0.100</title>"));
  EXPECT_EQ(count_of(svg, "width=\"1\" height=\"1\""), 6U);
}

TEST(AlignmentPicture, NamesItsAxesAndShowsTheSentence) {
  auto picture = example();
  picture.text = {"They watch .", "Ils regardent <b>"};
  const auto svg = alignment_svg(picture);
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_EQ(find_clipped_label(svg), "");
  EXPECT_THAT(svg, HasSubstr(">source →</text>"));
  EXPECT_THAT(svg, HasSubstr(">translation ↓</text>"));
  EXPECT_THAT(svg, HasSubstr(">They watch .</text>"));
  EXPECT_THAT(svg, HasSubstr(">Ils regardent &lt;b&gt;</text>"));
  picture.source_axis = picture.target_axis = "";
  EXPECT_THAT(alignment_svg(picture), Not(HasSubstr("source →")));
}

TEST(AlignmentPicture, ClampsWeightsToTheScale) {
  AttentionPicture picture = example();
  picture.matrices[0].weights = {1.5F, -0.5F, std::nanf(""), 0, 0, 0};
  const std::string svg = alignment_svg(picture);
  EXPECT_THAT(svg, HasSubstr("#ffffff"));
  EXPECT_THAT(svg, HasSubstr("-0.500"));
  EXPECT_THAT(svg, HasSubstr("#c00"));
}

TEST(AlignmentPicture, LegendShowsTheScale) {
  AttentionPicture picture = example();
  picture.matrices[0].weights = {0.02F, 0.04F, 0.01F, 0.005F, 0.01F, 0.0F};
  const auto absolute = alignment_svg(picture);
  EXPECT_EQ(count_of(absolute, "class=\"legend\""), 1U);
  EXPECT_THAT(absolute, HasSubstr(">0</text>"));
  EXPECT_THAT(absolute, HasSubstr(">1 (largest here: 0.0400)</text>"));
  EXPECT_THAT(absolute, HasSubstr("x=\"1\" y=\"0\" width=\"1\" height=\"1\" fill=\"#0a0a0a\""));

  picture.scale = WeightScale::picture;
  const auto relative = alignment_svg(picture);
  EXPECT_THAT(relative, HasSubstr(">0.0400 (the largest)</text>"));
  EXPECT_THAT(relative, HasSubstr("x=\"1\" y=\"0\" width=\"1\" height=\"1\" fill=\"#ffffff\""));
  EXPECT_THAT(relative, HasSubstr("x=\"1\" y=\"1\" width=\"1\" height=\"1\" fill=\"#404040\""));
  EXPECT_THAT(relative, HasSubstr("Ils ← watch  0.040"));  // the weight stays what it is

  picture.scale = WeightScale::row;
  const auto by_row = alignment_svg(picture);
  EXPECT_THAT(by_row, HasSubstr("the row's largest</text>"));
  EXPECT_THAT(by_row, HasSubstr("x=\"1\" y=\"1\" width=\"1\" height=\"1\" fill=\"#ffffff\""));

  picture.matrices[0].weights.assign(6, 0.0F);
  for (const auto scale : {WeightScale::picture, WeightScale::row}) {
    picture.scale = scale;
    EXPECT_EQ(count_of(alignment_svg(picture), "height=\"1\" fill=\"#000000\""), 6U);
  }
}

TEST(AlignmentPicture, TheScaleSwitchBeginsWithTheScaleOfThePictures) {
  const auto html = scale_switch(WeightScale::row);
  EXPECT_EQ(find_xml_fault(html), "");
  EXPECT_THAT(html, HasSubstr("<option value=\"row\" selected=\"\">"));
  EXPECT_EQ(count_of(html, "selected"), 1U);
}

TEST(AlignmentPicture, LabelsStayInsideThePicture) {
  for (const auto* word :
       {"mmmmmmmmmmmmmm", "WWWWWWWW", "▁Mme.", "ЩЖЮЩЖЮ", "中文中文中文", "i", "@%@%"}) {
    AttentionPicture picture = example();
    picture.caption = std::string("Line 1: ") + word + word;
    picture.source = {word, "a", word};
    picture.target = {word, "b"};
    picture.matrices[0].caption = std::string("layer 1, head 1 of ") + word;
    for (const auto scale : {WeightScale::absolute, WeightScale::picture, WeightScale::row}) {
      picture.scale = scale;
      EXPECT_EQ(find_clipped_label(alignment_svg(picture)), "") << word;
      EXPECT_EQ(find_clipped_label(alignment_matrix(picture, 0)), "") << word;
    }
    picture.matrices.push_back(picture.matrices[0]);
    EXPECT_EQ(find_clipped_label(alignment_svg(picture)), "") << word;
  }
}

TEST(AlignmentPicture, EscapesMarkupInWords) {
  AttentionPicture picture = example();
  picture.caption = "</svg><script>alert(1)</script>";
  picture.source = {"<b>&\"'", "مرحبا", "👍🏽\x01\xFF"};
  picture.matrices[0].caption = "a < b";
  for (const std::string& text : {alignment_svg(picture), alignment_matrix(picture, 0)}) {
    EXPECT_EQ(find_xml_fault(text), "");
    EXPECT_THAT(text, HasSubstr("&lt;b&gt;&amp;&quot;&#39;"));
    EXPECT_THAT(text, HasSubstr("مرحبا"));
    EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
  }
}

TEST(AlignmentPicture, DrawsSeveralMatricesSideBySideWithCaptions) {
  AttentionPicture picture = example();
  picture.matrices.push_back({"dot", std::vector<float>(6, 0.5F)});
  const auto svg = alignment_svg(picture);
  EXPECT_EQ(count_of(svg, "class=\"cells\""), 2U);
  EXPECT_THAT(svg, HasSubstr(">additive</text>"));
  EXPECT_THAT(svg, HasSubstr(">dot</text>"));
}

TEST(AlignmentPicture, LongWordsAreTruncatedWithFullTooltip) {
  AttentionPicture picture = example();
  picture.source[0] = "Donaudampfschifffahrtsgesellschaft";
  const std::string svg = alignment_svg(picture);
  EXPECT_THAT(svg, HasSubstr(">Donaudampfschifffahrtsg…<title>" + picture.source[0]));
}

TEST(AlignmentPicture, LongSentencesGetSmallerCells) {
  AttentionPicture picture = example();
  EXPECT_THAT(alignment_svg(picture), HasSubstr("scale(28)"));
  picture.source.resize(200, "word");
  picture.matrices[0].weights.resize(400);
  EXPECT_THAT(alignment_svg(picture), HasSubstr("scale(14)"));
}

TEST(AlignmentPicture, LoadsNothing) {
  const auto html =
      html_page("t", scale_switch(WeightScale::absolute), alignment_matrix(example(), 0));
  EXPECT_EQ(count_of(html, "http"), count_of(html, "xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
}

TEST(AlignmentPicture, DrawsEmptySentences) {
  const AttentionPicture picture{"", {}, {}, {{"", {}}}};
  EXPECT_EQ(find_xml_fault(alignment_svg(picture)), "");
  EXPECT_EQ(find_xml_fault(alignment_matrix(picture, 0)), "");
}

TEST(AlignmentPicture, DotMarksTheChosenPosition) {
  AttentionPicture picture = example();
  picture.matrices[0].chosen = {2, -1};
  const std::string svg = alignment_svg(picture);
  EXPECT_EQ(count_of(svg, "class=\"chosen\""), 1U);
  EXPECT_THAT(svg, HasSubstr("cx=\"2.5\" cy=\"0.5\""));
  picture.matrices[0].chosen = {2};
  EXPECT_THROW(alignment_svg(picture), std::invalid_argument);
}

TEST(AlignmentPicture, RefusesWrongNumberOfWeights) {
  AttentionPicture picture = example();
  picture.matrices[0].weights.pop_back();
  EXPECT_THROW(alignment_svg(picture), std::invalid_argument);
  EXPECT_THROW(alignment_matrix(picture, 0), std::invalid_argument);
}

}  // namespace
}  // namespace regard::alignment_picture_test
