#include "loss/reinforce.h"

#include <gtest/gtest.h>

namespace regard {
namespace {

TEST(ReinforceReference, ADrawIsWeighedByWhatFollowsItAgainstTheMean) {
  const auto log_choice =
      torch::tensor({{-0.5, -1.0, -2.0}, {-0.3, -0.7, -9.0}}, torch::kDouble).requires_grad_();
  const auto nll = torch::tensor({{3.0, 1.0, 2.0}, {4.0, 0.5, 0.0}}, torch::kDouble);
  const auto real = torch::tensor({{1, 1, 1}, {1, 1, 0}}, torch::kBool);
  const auto term = reinforce(log_choice, nll, real, -1.5);
  // What follows, less 1.5 for each token to come.
  const auto advantage =
      torch::tensor({{6 - 4.5, 3 - 3.0, 2 - 1.5}, {4.5 - 3.0, 0.5 - 1.5, 0.0}}, torch::kDouble);
  EXPECT_NEAR(term.item<double>(), (advantage * log_choice).sum().item<double>(), 1e-12);
  term.backward();
  EXPECT_TRUE(torch::allclose(log_choice.grad(), advantage));
}

}  // namespace
}  // namespace regard
