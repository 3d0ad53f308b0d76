#include "report/line_chart.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "tests/report/svg_labels.h"
#include "tests/report/xml_check.h"

namespace regard::line_chart_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The x and y of the gray rule or label that `pattern` captures.
double capture(const std::string& svg, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(svg, match, std::regex(pattern)) ? std::stod(match[1]) : NAN;
}

TEST(LineChart, TicksAreRoundAndCoverTheRange) {
  EXPECT_THAT(round_ticks(0, 34, 6), ElementsAre(0, 5, 10, 15, 20, 25, 30, 35));
  EXPECT_THAT(round_ticks(-3, 3, 3), ElementsAre(-4, -2, 0, 2, 4));
  EXPECT_THAT(round_ticks(2, 2, 5), ElementsAre(2));
}

TEST(LineChart, LogarithmicTicksAreRoundAndCoverTheRange) {
  EXPECT_THAT(log_ticks(0.07, 7.6, 4), ElementsAre(0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10));
  EXPECT_THAT(log_ticks(1.05, 2000, 4), ElementsAre(1, 10, 100, 1000, 10000));
  EXPECT_THAT(log_ticks(10, 5e21, 4), ElementsAre(10, 1e4, 1e7, 1e10, 1e13, 1e16, 1e19, 1e22));
  EXPECT_THAT(log_ticks(2.1, 2.9, 4),
              testing::Pointwise(testing::DoubleEq(), {2.0, 2.2, 2.4, 2.6, 2.8, 3.0}));
}

TEST(LineChart, EqualFactorsAreEquallyFarApartOnALogarithmicAxis) {
  LineChart chart{"", "step", "loss", {{"a", {{0, 1}, {5, 10}, {10, 100}}}}, {}, {}, {}};
  chart.log_y = true;
  const auto middle = [&] {
    const std::regex path("d=\"M[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)\"");
    std::smatch match;
    const auto svg = line_chart_svg(chart);
    if (!std::regex_search(svg, match, path)) return NAN;
    const double first = std::stod(match[1]), last = std::stod(match[3]);
    return static_cast<float>((std::stod(match[2]) - first) / (last - first));
  };
  EXPECT_NEAR(middle(), 0.5, 0.01);
  chart.series[0].points[0].second = 0;  // it has no logarithm
  EXPECT_NEAR(middle(), 0.1, 0.01);
}

TEST(LineChart, DrawsPointsBetweenTheirTicks) {
  LineChart chart{"", "step", "loss", {{"a", {{0, 0}, {5, 25}, {10, 50}}}}, {}, {}, {}};
  const std::string svg = line_chart_svg(chart);
  EXPECT_EQ(find_xml_fault(svg), "");
  const std::regex path("d=\"M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)\"");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(svg, match, path));
  EXPECT_NEAR(std::stod(match[3]), (std::stod(match[1]) + std::stod(match[5])) / 2, 0.02);
  EXPECT_NEAR(std::stod(match[4]), (std::stod(match[2]) + std::stod(match[6])) / 2, 0.02);
  EXPECT_GT(std::stod(match[2]), std::stod(match[6]));
  EXPECT_NEAR(capture(svg, "y=\"([0-9.]+)\" text-anchor=\"end\">50<") - 4, std::stod(match[6]),
              0.02);
  EXPECT_NEAR(capture(svg, "<text x=\"([0-9.]+)\"[^>]*\"middle\">10<"), std::stod(match[5]), 0.02);
  EXPECT_THAT(svg, HasSubstr("<title>a at 5: 25</title>"));
}

TEST(LineChart, ShowsNamedTicksOnTheAxisAndInTooltips) {
  LineChart chart{"BLEU", "length", "BLEU", {{"dot", {{0, 30}, {1, 20}}}}, {}, 0.0};
  chart.x_ticks = {{0, "1–10"}, {1, "11–20"}};
  const std::string svg = line_chart_svg(chart);
  EXPECT_THAT(svg, HasSubstr(">11–20</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>dot at 11–20: 20</title>"));
  EXPECT_THAT(svg, HasSubstr(">30</text>"));
}

TEST(LineChart, SeriesDifferInColourAndMarker) {
  LineChart chart;
  for (int i = 0; i < 9; ++i) chart.series.push_back({fmt::format("s{}", i), {{0, i}, {1, i}}});
  const std::string svg = line_chart_svg(chart);
  EXPECT_EQ(find_xml_fault(svg), "");
  for (int i = 0; i < 9; ++i) EXPECT_THAT(svg, HasSubstr(fmt::format(">s{}</text>", i)));
  EXPECT_THAT(svg, HasSubstr("#0072b2"));
  EXPECT_THAT(svg, HasSubstr("#d55e00"));
}

TEST(LineChart, ValuesThatAreNotFiniteLeaveGaps) {
  LineChart chart{"", "", "", {{"a", {{0, 1}, {1, NAN}, {2, 3}, {3, INFINITY}}}}, {}, {}, {}};
  const std::string svg = line_chart_svg(chart);
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_TRUE(std::regex_search(svg, std::regex("d=\"M[0-9. ]+M[0-9. ]+\"")));
}

TEST(LineChart, EmptySingleAndFlatSeriesAreDrawn) {
  for (const std::vector<std::pair<double, double>>& points :
       {std::vector<std::pair<double, double>>{},
        {{3, 7}},
        {{0, 0}},
        {{0, 1e9}, {1, 1e9 + 1e-7}},
        {{0, 1e300}, {1, -1e300}}}) {
    const std::string svg = line_chart_svg({"<&>", "x", "y", {{"a&b", points}}, {}, {}, {}});
    EXPECT_EQ(find_xml_fault(svg), "");
    EXPECT_THAT(svg, HasSubstr("&lt;&amp;&gt;"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
  }
}

TEST(LineChart, PageHasValuesAndNoBackground) {
  LineChart chart{"", "step", "", {{"a", {{500, 0.25}, {1000, 0.5}}}}, {}, {}, {}};
  const std::string svg = line_chart_html(chart);
  EXPECT_EQ(find_xml_fault(svg), "");
  EXPECT_TRUE(std::regex_search(
      svg, std::regex("data-name=\"a\" data-values=\"[0-9.]+\\|[0-9.]+\\|500\\|0\\.25;"
                      "[0-9.]+\\|[0-9.]+\\|1,000\\|0\\.5\"")));
  EXPECT_THAT(svg, Not(HasSubstr("<rect")));
  EXPECT_THAT(line_chart_svg(chart), Not(HasSubstr("data-values")));
}

TEST(LineChart, BandsCoverTheirIntervals) {
  LineChart chart{"", "", "", {{"a", {{0, 20}, {1, 30}, {2, 40}}}}, {}, 0.0};
  chart.series[0].band = {{10, 30}, {20, 50}, {40, 40}};
  const std::string svg = line_chart_svg(chart);
  std::smatch match;
  ASSERT_TRUE(std::regex_search(
      svg, match,
      std::regex("class=\"band c0\" d=\"M[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ "
                 "([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)Z")));
  const double top = std::stod(match[2]);           // 50
  const double pixels = std::stod(match[6]) - top;  // down to 10
  EXPECT_NEAR(std::stod(match[1]) - top, pixels * 20 / 40, 0.05);
  EXPECT_NEAR(std::stod(match[3]), std::stod(match[4]), 0.01);
  EXPECT_NEAR(std::stod(match[5]) - top, pixels * 30 / 40, 0.05);
}

TEST(LineChart, SingleSeriesWithoutANameHasNoLegend) {
  LineChart chart{"", "", "", {{"", {{0, 1}, {1, 2}}}}, {}, {}, {}};
  chart.series[0].points.resize(50, {2, 3});
  EXPECT_EQ(count_of(line_chart_svg(chart), "class=\"line c0\""), 1U);
}

TEST(LineChart, LabelsStayInsideThePicture) {
  LineChart chart;
  chart.width = 380;
  chart.height = 200;
  for (const double max_value : {100.0, 100'000.0, 1'000'000.0, 123'456'789.0}) {
    for (const auto* title : {"", "Speed, target tokens a second, WWWWWWWWWWWWWWWWWWWWWWWWWWWW"}) {
      chart.title = chart.x_label = chart.y_label = title;
      chart.series = {{title, {{0, 0}, {max_value, 1e-4}}},
                      {title, {{0, max_value}, {max_value / 2, max_value}}}};
      for (const auto& svg : {line_chart_svg(chart), line_chart_html(chart)})
        EXPECT_EQ(find_clipped_label(svg), "") << max_value << title;
    }
  }
  chart.x_ticks = {{0, "1–10 MMMMMMMMMMMM"}, {1, "more than 123 WWWWWWWWWWWWW"}};
  chart.series = {{"BLEU", {{0, 30}, {1, 20}}}};
  EXPECT_EQ(find_clipped_label(line_chart_svg(chart)), "");
}

}  // namespace
}  // namespace regard::line_chart_test
