#include "report/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "report/format.h"
#include "tests/report/example_picture.h"

namespace regard::heat_map_test {
namespace {

using testing::HasSubstr;
using testing::Not;

AttentionPicture example() {
  return example_picture({{"", {0.9F, 0.1F, 0.0F, 0.0F, 0.58F, 0.42F}}});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(HeatMap, ShowsWeightsByShadesWithoutColours) {
  EXPECT_EQ(heat_map(example(), {}),
            "             w\n"
            "           T a\n"
            "           h t\n"
            "           e c\n"
            "           y h .\n"
            "      Ils  ██·     They   0.90\n"
            "regardent    ▒▒▒▒  watch  0.58\n"
            "         0 ·░▒▓█ 1 (largest here: 0.900)\n");
}

TEST(HeatMap, ShowsWeightsByBackgroundWithColours) {
  const auto map = heat_map(example(), {true, true, 80});
  EXPECT_THAT(map,
              HasSubstr("\x1b[48;5;222m  \x1b[48;5;53m  \x1b[48;5;234m  \x1b[0m  They   0.90"));
  EXPECT_THAT(map, Not(HasSubstr("█")));
  EXPECT_THAT(map, HasSubstr("0 \x1b[48;5;234m \x1b[48;5;53m "));
  EXPECT_THAT(map, HasSubstr("\x1b[48;5;230m \x1b[0m 1 (largest here: 0.900)\n"));
}

TEST(HeatMap, RelativeScaleShowsSmallWeights) {
  auto picture = example_picture({{"", {0.02F, 0.04F, 0.0F, 0.01F, 0.0F, 0.0F}}});
  EXPECT_THAT(heat_map(picture, {}), HasSubstr("      Ils          watch  0.04\n"));
  EXPECT_THAT(heat_map(picture, {}), HasSubstr("0 ·░▒▓█ 1 (largest here: 0.0400)\n"));
  picture.scale = WeightScale::picture;
  EXPECT_THAT(heat_map(picture, {}), HasSubstr("      Ils  ▒▒██    watch  0.04\n"
                                               "regardent  ░░      They   0.01\n"));
  EXPECT_THAT(heat_map(picture, {}), HasSubstr("0 ·░▒▓█ 0.0400 (the largest)\n"));
  picture.scale = WeightScale::row;
  EXPECT_THAT(heat_map(picture, {}), HasSubstr("regardent  ██      They   0.01\n"));
  EXPECT_THAT(heat_map(picture, {}), HasSubstr("0 ·░▒▓█ the row's largest\n"));
}

TEST(HeatMap, AlignsWideAndCombiningCharacters) {
  AttentionPicture picture{
      "", {"日本語", "e\u0301te\u0301", "👍🏽"}, {"犬", "x\u0302y"}, {{"", {}}}};
  picture.matrices[0].weights = {1, 0, 0, 0, 0, 1};
  const auto lines = lines_of(heat_map(picture, {}));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "    日e\u0301");
  EXPECT_EQ(lines[1], "    本t");
  EXPECT_EQ(lines[2], "    語e\u0301 👍🏽");
  EXPECT_EQ(lines[3], "犬  ██      日本語  1.00");
  EXPECT_EQ(lines[4], "x\u0302y      ██  👍🏽      1.00");
}

TEST(HeatMap, SplitsIntoBlocksForANarrowTerminal) {
  AttentionPicture picture{"", std::vector<std::string>(40, "word"), {"Wort"}, {{"", {}}}};
  picture.matrices[0].weights.assign(40, 0.025F);
  picture.matrices[0].weights[39] = 1;
  const auto lines = lines_of(heat_map(picture, {false, false, 60}));
  EXPECT_EQ(std::ranges::count(lines, std::string("")), 1);
  for (const auto& line : lines) EXPECT_LE(display_width(line), 60U) << line;
  EXPECT_THAT(lines[lines.size() - 2], HasSubstr("██  word  1.00"));
}

TEST(HeatMap, TruncatesLongWords) {
  AttentionPicture picture = example();
  picture.source[0] = "Donaudampfschifffahrtsgesellschaft";
  picture.target[0] = "Rindfleischetikettierung";
  const auto map = heat_map(picture, {});
  EXPECT_THAT(map, HasSubstr("Rindfleischetik…"));
  EXPECT_EQ(lines_of(map).size(), 12U + 2U + 1U);
  EXPECT_THAT(map, HasSubstr("…"));
}

TEST(HeatMap, HandlesEmptySentencesAndNaN) {
  EXPECT_EQ(heat_map({"", {}, {}, {{"", {}}}}, {}), "");
  AttentionPicture picture = example();
  picture.matrices[0].weights[1] = std::nanf("");
  EXPECT_THAT(heat_map(picture, {}), HasSubstr("██??"));
  picture.matrices[0].weights.pop_back();
  EXPECT_THROW(heat_map(picture, {}), std::invalid_argument);
}

}  // namespace
}  // namespace regard::heat_map_test
