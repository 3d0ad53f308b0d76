#include "optim/moving_average.h"

#include <gtest/gtest.h>

namespace regard {
namespace {

TEST(MovingAverage, FollowsItsFormula) {
  auto x = torch::zeros({1}, torch::kDouble);
  MovingAverage average(0.9, {{"x", x}});
  Workers workers(2);
  double expected = 0;
  for (int n = 1; n <= 200; ++n) {
    x.fill_(n);
    average.update(n, workers);
    const double d = std::min(0.9, (1.0 + n) / (10.0 + n));
    expected = d * expected + (1 - d) * n;
    EXPECT_NEAR(average.averages()[0].second.item<double>(), expected, 1e-9);
  }
}

TEST(MovingAverage, SwappingTwiceChangesNothing) {
  auto x = torch::randn({3});
  MovingAverage average(0.5, {{"x", x}});
  x.add_(1);
  Workers workers;
  average.update(1, workers);
  const auto weights = x.clone();
  const auto averages = average.averages()[0].second.clone();
  average.swap();
  EXPECT_TRUE(torch::equal(x, averages));
  average.swap();
  EXPECT_TRUE(torch::equal(x, weights));
  EXPECT_TRUE(torch::equal(average.averages()[0].second, averages));
}

}  // namespace
}  // namespace regard
