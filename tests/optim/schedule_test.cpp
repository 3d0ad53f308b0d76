#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regard::schedule_test {
namespace {

TrainingOptions options_of(ScheduleKind kind) {
  TrainingOptions options;
  options.scheduling = kind;
  options.learning_rate = 0.5;
  return options;
}

TEST(Schedule, WarmUpGrowsLinearlyUnderEveryKind) {
  for (int kind = 0; kind < 5; ++kind) {
    auto options = options_of(static_cast<ScheduleKind>(kind));
    options.warmup_steps = 10;
    options.max_steps = 100;
    const Schedule schedule(options);
    for (int step = 1; step <= 10; ++step) {
      EXPECT_NEAR(schedule.rate(step), 0.05 * step, 1e-12) << kind;
    }
  }
}

TEST(Schedule, ConstantStays) {
  EXPECT_EQ(Schedule(options_of(ScheduleKind::constant)).rate(1'000'000), 0.5);
}

TEST(Schedule, InverseSquareRootHalvesWithFourTimesTheSteps) {
  auto options = options_of(ScheduleKind::inverse_square_root);
  options.warmup_steps = 100;
  const Schedule schedule(options);
  EXPECT_NEAR(schedule.rate(400), 0.25, 1e-12);
  EXPECT_NEAR(schedule.rate(1600), 0.125, 1e-12);
}

TEST(Schedule, ExponentialMultipliesByTheFactorEachPeriod) {
  auto options = options_of(ScheduleKind::exponential);
  options.decay_steps = 200;
  options.decrease_factor = 0.1;
  const Schedule schedule(options);
  EXPECT_NEAR(schedule.rate(200), 0.05, 1e-12);
  EXPECT_NEAR(schedule.rate(300), 0.5 * std::pow(0.1, 1.5), 1e-12);
}

TEST(Schedule, CosineFallsFromThePeakThroughTheMiddleToTheLowest) {
  auto options = options_of(ScheduleKind::cosine);
  options.warmup_steps = 10;
  options.max_steps = 110;
  options.learning_rate_min = 0.1;
  const Schedule schedule(options);
  EXPECT_NEAR(schedule.rate(10), 0.5, 1e-12);
  EXPECT_NEAR(schedule.rate(60), 0.3, 1e-12);
  EXPECT_NEAR(schedule.rate(110), 0.1, 1e-12);
  EXPECT_NEAR(schedule.rate(500), 0.1, 1e-12);
}

TEST(Schedule, PlateauFallsWhenPatienceIsSpentAndBeginsToCountAnew) {
  auto options = options_of(ScheduleKind::plateau);
  options.decrease_patience = 1;
  options.decrease_factor = 0.5;
  Schedule schedule(options);
  schedule.validated(true);
  schedule.validated(false);
  EXPECT_EQ(schedule.rate(1), 0.5);
  schedule.validated(false);
  EXPECT_EQ(schedule.rate(1), 0.25);
  schedule.validated(false);
  EXPECT_EQ(schedule.rate(1), 0.25);
}

TEST(Schedule, PlateauIsExhaustedOnceTheLowestRateIsReached) {
  auto options = options_of(ScheduleKind::plateau);
  options.decrease_patience = 0;
  options.learning_rate_min = 0.2;
  Schedule schedule(options);
  schedule.validated(false);
  EXPECT_FALSE(schedule.exhausted());
  schedule.validated(false);
  EXPECT_TRUE(schedule.exhausted());
  EXPECT_EQ(schedule.rate(1), 0.2);
  options.learning_rate_min = 0.25;
  Schedule exact(options);
  exact.validated(false);
  EXPECT_EQ(exact.rate(1), 0.25);
  EXPECT_TRUE(exact.exhausted());
}

TEST(Schedule, ASetbackHalvesEveryRateFromThereOn) {
  TrainingOptions options;
  options.scheduling = ScheduleKind::cosine;
  options.warmup_steps = 10;
  options.max_steps = 100;
  options.learning_rate_min = 0.00001;
  const Schedule plain(options);
  Schedule halved(options);
  halved.set_state({.rollbacks = 2});
  for (const std::int64_t step : {1, 10, 60, 100}) {
    EXPECT_DOUBLE_EQ(halved.rate(step), plain.rate(step) / 4) << step;
  }
}

TEST(Schedule, AStateBroughtBackGoesOnAlike) {
  auto options = options_of(ScheduleKind::plateau);
  Schedule before(options);
  for (int i = 0; i < 4; ++i) before.validated(false);
  Schedule after(options);
  after.set_state(before.state());
  for (int i = 0; i < 3; ++i) {
    before.validated(false);
    after.validated(false);
    EXPECT_EQ(before.rate(7), after.rate(7));
  }
}

}  // namespace
}  // namespace regard::schedule_test
