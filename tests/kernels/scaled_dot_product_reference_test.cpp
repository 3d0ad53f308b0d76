#include "kernels/scaled_dot_product.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <limits>

#include "kernels/fused.h"

namespace regard::kernels {
namespace {

constexpr std::int64_t B = 3, H = 2, T = 4, S = 4, d = 3;

// The result, and the gradients of q, k and v.
std::vector<torch::Tensor> run(bool composite, const torch::Tensor& bias, bool causal) {
  torch::manual_seed(1);
  std::vector<torch::Tensor> inputs;
  for (int i = 0; i < 3; ++i) {
    inputs.push_back(torch::randn({B, H, T, d}, torch::kDouble).requires_grad_());
  }
  const auto along = torch::randn({B, H, T, d}, torch::kDouble);
  use_composites(composite);
  const auto y = scaled_dot_product(inputs[0], inputs[1], inputs[2], bias, causal);
  use_composites(false);
  auto results = torch::autograd::grad({(y * along).sum()}, inputs);
  results.push_back(y);
  return results;
}

TEST(ScaledDotProductReference, TheFusedOneEqualsTheCompositeInValuesAndGradients) {
  auto bias = torch::zeros({B, 1, 1, S}, torch::kDouble);
  bias[1].slice(-1, 2).fill_(-std::numeric_limits<double>::infinity());
  bias[2].slice(-1, 1).fill_(-std::numeric_limits<double>::infinity());
  const std::vector<std::pair<torch::Tensor, bool>> cases = {
      {torch::Tensor(), false}, {bias, false}, {torch::Tensor(), true}};
  for (const auto& [mask, causal] : cases) {
    const auto fused = run(false, mask, causal);
    const auto plain = run(true, mask, causal);
    for (std::size_t i = 0; i < fused.size(); ++i) {
      EXPECT_TRUE(torch::allclose(fused[i], plain[i], 1e-12, 1e-12)) << i << causal;
    }
  }
}

TEST(ScaledDotProductReference, WeightsAreADistributionExactlyZeroWhereNothingMayBeSeen) {
  auto bias = torch::zeros({1, 1, 1, S}, torch::kDouble);
  bias.slice(-1, 3).fill_(-std::numeric_limits<double>::infinity());
  const auto q = torch::randn({1, H, T, d}, torch::kDouble);
  const auto padded = scaled_dot_product_weights(q, q, bias, false);
  EXPECT_TRUE(padded.slice(-1, 3).eq(0).all().item<bool>());
  EXPECT_TRUE(torch::allclose(padded.sum(-1), torch::ones({1, H, T}, torch::kDouble)));
  const auto causal = scaled_dot_product_weights(q, q, {}, true);
  EXPECT_TRUE(causal.triu(1).eq(0).all().item<bool>());
  EXPECT_TRUE(torch::allclose(causal.sum(-1), torch::ones({1, H, T}, torch::kDouble)));
}

}  // namespace
}  // namespace regard::kernels
