#include "training/training_log.h"

#include <gtest/gtest.h>

namespace regard::training_log_test {
namespace {

TEST(TrainingPosition, TheMeanLogProbabilityBeginsWithTheFirstAndMovesATenthOfTheWay) {
  TrainingPosition position;
  position.update_mean_log_p(-4);
  EXPECT_DOUBLE_EQ(position.mean_log_p, -4);
  position.update_mean_log_p(-2);
  EXPECT_DOUBLE_EQ(position.mean_log_p, -3.8);
  position.update_mean_log_p(-3.8);
  EXPECT_DOUBLE_EQ(position.mean_log_p, -3.8);
}

TEST(TrainingPosition, AnEpochIsThatOfTheNextBatchUntilItIsAtItsEnd) {
  TrainingPosition position;
  EXPECT_EQ(position.current_epoch(), 1);
  position.batch = 3;
  EXPECT_EQ(position.current_epoch(), 1);
  position.begin_epoch();
  EXPECT_EQ(position.batch, 0);
  EXPECT_EQ(position.current_epoch(), 1);
  position.batch = 1;
  EXPECT_EQ(position.current_epoch(), 2);
}

TEST(TrainingLog, ALossRisesWhenItIsMoreThanTwiceTheLowestAndANatHigher) {
  EXPECT_TRUE(is_rising_loss(5.5, 221));
  EXPECT_TRUE(is_rising_loss(2, 4.1));
  EXPECT_FALSE(is_rising_loss(2, 3.9));     // a hard batch
  EXPECT_FALSE(is_rising_loss(0.01, 0.9));  // a model that knows its data by heart
  EXPECT_FALSE(is_rising_loss(5.5, 5.5));
}

}  // namespace
}  // namespace regard::training_log_test
