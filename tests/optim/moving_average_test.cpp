#include "optim/moving_average.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace regard::moving_average_test {
namespace {

TEST(MovingAverage, FollowsItsFormula) {
  auto x = torch::zeros({1}, torch::kDouble);
  MovingAverage average(0.9, ParameterBuffer::adopt({{"x", x}}));
  double expected = 0;
  for (int n = 1; n <= 200; ++n) {
    x.fill_(n);
    average.update_range(n, 0, average.flat().numel());
    const double d = std::min(0.9, (1.0 + n) / (10.0 + n));
    expected = d * expected + (1 - d) * n;
    EXPECT_NEAR(average.averages()[0].second.item<double>(), expected, 1e-9);
  }
}

TEST(MovingAverage, UpdatesARangeAndNoOtherElement) {
  auto x = torch::zeros({6}, torch::kDouble);
  MovingAverage average(0.5, ParameterBuffer::adopt({{"x", x}}));
  x.copy_(torch::arange(1, 7));
  average.update_range(20, 2, 5);
  const auto expected = torch::tensor({0.0, 0.0, 1.5, 2.0, 2.5, 0.0}, torch::kDouble);
  EXPECT_TRUE(torch::equal(average.averages()[0].second, expected));
}

class AveragedWeightsTest : public testing::Test {
 protected:
  AveragedWeightsTest() {
    x_.add_(1);
    average_.update_range(1, 0, average_.flat().numel());
    weights_ = x_.clone();
    averages_ = average_.averages()[0].second.clone();
  }

  torch::Tensor x_ = torch::randn({3, 2});
  torch::Tensor bias_ = torch::randn({5});
  MovingAverage average_{0.5, ParameterBuffer::adopt({{"x", x_}, {"bias", bias_}})};
  torch::Tensor weights_;
  torch::Tensor averages_;
};

TEST_F(AveragedWeightsTest, StandInForTheWeightsUntilTheScopeEnds) {
  {
    const AveragedWeights averaged(&average_);
    EXPECT_TRUE(torch::equal(x_, averages_));
  }
  EXPECT_TRUE(torch::equal(x_, weights_));
  EXPECT_TRUE(torch::equal(average_.averages()[0].second, averages_));
}

TEST_F(AveragedWeightsTest, GiveTheWeightsBackWhenAnExceptionEndsTheScope) {
  try {
    const AveragedWeights averaged(&average_);
    throw std::runtime_error("a validation that failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(torch::equal(x_, weights_));
  EXPECT_TRUE(torch::equal(average_.averages()[0].second, averages_));
}

TEST_F(AveragedWeightsTest, WithoutAnAverageNothingChanges) {
  const AveragedWeights averaged(nullptr);
  EXPECT_TRUE(torch::equal(x_, weights_));
}

}  // namespace
}  // namespace regard::moving_average_test
