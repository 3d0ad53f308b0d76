#include "model/output/loss.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>

namespace regard::loss_reference_test {
namespace {

// The loss of logits [B, T, V]: their output layer does nothing.
Loss loss_of(const torch::Tensor& logits, const torch::Tensor& targets, double smoothing) {
  const auto V = logits.size(2);
  return cross_entropy(logits, targets, torch::eye(V, torch::kDouble),
                       torch::zeros(V, torch::kDouble), smoothing);
}

// Σ_t Σ_y q(y) (−log P(y)), q as in the header, one number at a time.
double by_definition(const torch::Tensor& logits, const torch::Tensor& targets, double smoothing) {
  double sum = 0;
  const auto V = logits.size(2);
  for (std::int64_t b = 0; b < logits.size(0); ++b) {
    for (std::int64_t t = 0; t < logits.size(1); ++t) {
      const auto target = targets[b][t].item<std::int64_t>();
      if (target == 0) continue;
      double total = 0;
      for (std::int64_t y = 0; y < V; ++y) total += std::exp(logits[b][t][y].item<double>());
      for (std::int64_t y = 0; y < V; ++y) {
        const double q = (y == target ? 1 - smoothing : 0) + smoothing / static_cast<double>(V);
        sum -= q * (logits[b][t][y].item<double>() - std::log(total));
      }
    }
  }
  return sum;
}

TEST(CrossEntropyReference, EqualsItsDefinitionAndCountsNoPadding) {
  torch::manual_seed(1);
  const auto logits = torch::randn({3, 4, 7}, torch::kDouble);
  const auto targets = torch::tensor({{5, 1, 6, 3}, {2, 3, 0, 0}, {3, 0, 0, 0}});
  for (const double smoothing : {0.0, 0.1, 0.5}) {
    const auto loss = loss_of(logits, targets, smoothing);
    EXPECT_NEAR(loss.objective.item<double>(), by_definition(logits, targets, smoothing), 1e-10);
    EXPECT_NEAR(loss.nll.sum().item<double>(), by_definition(logits, targets, 0), 1e-10);
  }
}

TEST(CrossEntropyReference, TheGradientAtPaddingIsZero) {
  const auto logits = torch::randn({2, 2, 5}, torch::kDouble).requires_grad_();
  const auto targets = torch::tensor({{4, 3}, {3, 0}});
  loss_of(logits, targets, 0.1).objective.backward();
  EXPECT_TRUE(logits.grad()[1][1].eq(0).all().item<bool>());
  EXPECT_FALSE(logits.grad()[1][0].eq(0).any().item<bool>());
}

TEST(ReinforceReference, ASampledPositionIsWeightedByTheLossAfterItAgainstTheMean) {
  const auto sampled_log_p =
      torch::tensor({{-0.5, -1.0, -2.0}, {-0.3, -0.7, -9.0}}, torch::kDouble).requires_grad_();
  const auto nll = torch::tensor({{3.0, 1.0, 2.0}, {4.0, 0.5, 0.0}}, torch::kDouble);
  const auto real = torch::tensor({{1, 1, 1}, {1, 1, 0}}, torch::kBool);
  const auto term = reinforce(sampled_log_p, nll, real, -1.5);
  // The nll from each token on, less 1.5 for each of these tokens.
  const auto advantage =
      torch::tensor({{6 - 4.5, 3 - 3.0, 2 - 1.5}, {4.5 - 3.0, 0.5 - 1.5, 0.0}}, torch::kDouble);
  EXPECT_NEAR(term.item<double>(), (advantage * sampled_log_p).sum().item<double>(), 1e-12);
  term.backward();
  EXPECT_TRUE(torch::allclose(sampled_log_p.grad(), advantage));
}

}  // namespace
}  // namespace regard::loss_reference_test
