#include "report/learning_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regard::learning_curves_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

ValidationTable validations() {
  return {{"step", "loss", "bleu", "chrf"}, {{"100", "4.5", "1.5", "20"}, {"200", "", "3", "25"}}};
}

const std::vector<Json> short_log = {{{"step", 50}, {"loss", 6.0}},
                                     {{"step", 100}, {"loss", 5.0}, {"gradient_norm", nullptr}},
                                     {{"remark", "none of these"}}};
const ValidationTable no_validations;

TEST(LearningCurves, ShowBothLossesByStep) {
  const auto table = validations();
  const auto charts = learning_curves({"", short_log, table});
  ASSERT_THAT(charts, SizeIs(2));
  ASSERT_THAT(charts[0].series, SizeIs(2));
  EXPECT_EQ(charts[0].series[0].name, "training");
  EXPECT_THAT(charts[0].series[0].points, ElementsAre(Pair(50, 6), Pair(100, 5)));
  EXPECT_EQ(charts[0].series[1].name, "validation");
  EXPECT_EQ(charts[0].series[1].points[0], std::pair(100.0, 4.5));
  EXPECT_THAT(charts[1].series[0].points, ElementsAre(Pair(100, 1.5), Pair(200, 3)));
}

TEST(LearningCurves, LongCurvesAreMeansOfGroups) {
  std::vector<Json> train_log;
  for (int step = 1; step <= 2500; ++step)
    train_log.push_back({{"step", step}, {"loss", step % 3}});
  const auto charts = learning_curves({"", train_log, no_validations});
  ASSERT_THAT(charts, SizeIs(1));
  const auto& points = charts[0].series[0].points;
  ASSERT_THAT(points, SizeIs(834));
  EXPECT_THAT(points[0], Pair(3, 1));  // (1 + 2 + 0) / 3
  EXPECT_EQ(points.back().first, 2500);
}

TEST(LearningCurves, NoDataHasNoChart) {
  const std::vector<Json> no_log;
  EXPECT_THAT(learning_curves({"", no_log, no_validations}), IsEmpty());
  EXPECT_THAT(compared_curves({{"a", no_log, no_validations}}), IsEmpty());
}

TEST(ComparedCurves, HaveASeriesForEachRunThatHasThem) {
  const auto table = validations();
  const auto charts = compared_curves({{"a", short_log, table}, {"b", short_log, no_validations}});
  ASSERT_THAT(charts, SizeIs(4));  // two losses, BLEU, chrF
  EXPECT_EQ(charts[0].title, "Loss per target token, training");
  ASSERT_THAT(charts[0].series, SizeIs(2));
  EXPECT_EQ(charts[0].series[0].name, "a");
  EXPECT_EQ(charts[0].series[1].name, "b");
  ASSERT_THAT(charts[2].series, SizeIs(1));
  EXPECT_EQ(charts[2].title, "BLEU, validation");
  EXPECT_THAT(charts[2].series[0].points, ElementsAre(Pair(100, 1.5), Pair(200, 3)));
}

}  // namespace
}  // namespace regard::learning_curves_test
