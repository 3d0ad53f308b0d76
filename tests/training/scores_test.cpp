#include "training/early_stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace regard::scores_test {
namespace {

using testing::ElementsAre;

Scores scores_of(double loss, double bleu) {
  return {loss, std::exp(loss), bleu, bleu};
}

TEST(Scores, OfEqualFiguresTheLowerLossIsBetter) {
  EXPECT_TRUE(is_better(Metric::bleu, scores_of(1, 10), scores_of(2, 10)));
  EXPECT_FALSE(is_better(Metric::bleu, scores_of(2, 10), scores_of(2, 10)));
  EXPECT_TRUE(is_better(Metric::bleu, scores_of(9, 11), scores_of(2, 10)));
}

TEST(Scores, WhatIsNotFiniteIsNeverBetterAndAlwaysWorse) {
  EXPECT_FALSE(is_better(Metric::loss, scores_of(NAN, 10), scores_of(2, 10)));
  EXPECT_TRUE(is_better(Metric::loss, scores_of(2, 10), scores_of(NAN, 10)));
}

TEST(Scores, TheRankingIsBestFirstAndOfEqualOnesTheEarlierFirst) {
  const ScoredSteps validations = {{1, scores_of(3, 10)},
                                   {2, scores_of(2, 30)},
                                   {3, scores_of(2, NAN)},
                                   {4, scores_of(1, 30)},
                                   {5, scores_of(3, 10)}};
  EXPECT_THAT(ranking(Metric::bleu, validations), ElementsAre(4, 2, 1, 5));
  EXPECT_THAT(ranking(Metric::loss, validations), ElementsAre(4, 2, 3, 1, 5));
}

}  // namespace
}  // namespace regard::scores_test
