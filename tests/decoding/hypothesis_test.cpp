#include "decoding/hypothesis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "decoding/search.h"

namespace regard::hypothesis_test {
namespace {

TEST(Score, LengthPenaltiesEqualTheirFormulas) {
  SearchRequest options;
  options.beam_alpha = 0.6;
  EXPECT_DOUBLE_EQ(length_penalty(7, options), std::pow(2.0, 0.6));
  options.length_penalty = LengthPenalty::power;
  EXPECT_DOUBLE_EQ(length_penalty(7, options), std::pow(7.0, 0.6));
  options.beam_alpha = 0;
  EXPECT_EQ(length_penalty(7, options), 1);
}

TEST(Score, CoveragePenaltyEqualsItsFormula) {
  EXPECT_NEAR(coverage_penalty({{0.5F, 0.5F, 0}, {0.75F, 0, 0.25F}}),
              std::log(0.5) + std::log(0.25), 1e-12);
  EXPECT_NEAR(coverage_penalty({{1, 0}}), std::log(1e-10), 1e-12);
  EXPECT_EQ(coverage_penalty({}), 0);
}

TEST(Score, TheScoreIncludesBothPenalties) {
  SearchRequest options;
  options.beam_alpha = 1;
  options.coverage_beta = 0.2;
  Hypothesis hypothesis;
  hypothesis.tokens = {4, 5, 6, 4, 5, 6};
  hypothesis.finished = true;
  hypothesis.log_probability = -3;
  hypothesis.weights = {{1, 0.5F}};
  EXPECT_NEAR(score_hypothesis(hypothesis, options), -1.5 + 0.2 * std::log(0.5), 1e-12);
}

TEST(Score, BestPossibleScoreIsAnUpperBoundForAllLengths) {
  SearchRequest options;
  options.coverage_beta = 0.1;
  for (const auto kind : {LengthPenalty::gnmt, LengthPenalty::power}) {
    options.length_penalty = kind;
    for (const double alpha : {0.0, 0.5, 1.0, 2.0}) {
      options.beam_alpha = alpha;
      for (std::int64_t n = 1; n <= 20; ++n) {
        EXPECT_LE(-2 / length_penalty(n, options), best_possible_score(-2, 20, options));
      }
    }
  }
}

}  // namespace
}  // namespace regard::hypothesis_test
