#include "training/training_log.h"

#include <gtest/gtest.h>

namespace regard {
namespace {

TEST(Position, TheMeanLogProbabilityBeginsWithTheFirstAndMovesATenthOfTheWay) {
  Position position;
  position.learnt(-4);
  EXPECT_DOUBLE_EQ(position.mean_log_p, -4);
  position.learnt(-2);
  EXPECT_DOUBLE_EQ(position.mean_log_p, -3.8);
  position.learnt(-3.8);
  EXPECT_DOUBLE_EQ(position.mean_log_p, -3.8);
}

TEST(Position, AnEpochIsThatOfTheNextBatchUntilItIsAtItsEnd) {
  Position position;
  EXPECT_EQ(position.current_epoch(), 1);
  position.batch = 3;
  EXPECT_EQ(position.current_epoch(), 1);
  position.begin_epoch();
  EXPECT_EQ(position.batch, 0);
  EXPECT_EQ(position.current_epoch(), 1);
  position.batch = 1;
  EXPECT_EQ(position.current_epoch(), 2);
}

}  // namespace
}  // namespace regard
