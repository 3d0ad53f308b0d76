#include "kernels/scaled_dot_product.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <limits>

#include "kernels/device.h"

namespace regard::kernels {
namespace {

constexpr std::int64_t B = 3, H = 2, T = 4, S = 4, d = 3;

// The result, and the gradients of q, k and v.
std::vector<torch::Tensor> run(bool reference, const torch::Tensor& bias, bool causal) {
  torch::manual_seed(1);
  std::vector<torch::Tensor> inputs;
  for (int i = 0; i < 3; ++i) {
    inputs.push_back(torch::randn({B, H, T, d}, torch::kDouble).requires_grad_());
  }
  const auto along = torch::randn({B, H, T, d}, torch::kDouble);
  use_reference(reference);
  const auto y = scaled_dot_product(inputs[0], inputs[1], inputs[2], bias, causal);
  use_reference(false);
  auto results = torch::autograd::grad({(y * along).sum()}, inputs);
  results.push_back(y);
  return results;
}

TEST(ScaledDotProductReference, TheFusedOperationEqualsTheReferenceInValuesAndGradients) {
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

// Heads beside each other, as the projections leave them: [B, S, H · width] -> [B, H, S, width].
torch::Tensor heads(std::int64_t positions, std::int64_t width, torch::ScalarType type) {
  return torch::randn({B, positions, H, width}, type).transpose(1, 2);
}

TEST(ScaledDotProductReference, InASearchTheHeadsOfAStepEqualTheReferenceToTheSentencesEnd) {
  const auto lengths = torch::tensor({23, 1, 7});
  const auto mask = torch::arange(23) < lengths.view({B, 1, 1, 1});
  const auto bias = torch::zeros({B, 1, 1, 23}, torch::kDouble)
                        .masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
  for (const std::int64_t width : {1, 8, 18, 64}) {
    for (const std::int64_t queries : {1, 2, 5}) {
      const auto q = heads(queries, width, torch::kDouble);
      const auto k = heads(23, width, torch::kDouble);
      const auto v = heads(23, width, torch::kDouble);
      for (const bool padded : {true, false}) {
        const auto alpha = scaled_dot_product_weights(q, k, padded ? bias : torch::Tensor(), false);
        const auto y = alpha.matmul(v).transpose(1, 2).flatten(2);
        const auto found = attend_heads(q, k, v, padded ? lengths : torch::Tensor(), true);
        EXPECT_TRUE(torch::allclose(found.alpha, alpha, 1e-12, 1e-12)) << width << queries;
        EXPECT_TRUE(torch::allclose(found.y, y, 1e-12, 1e-12)) << width << queries;
        EXPECT_TRUE(torch::allclose(mean_over_heads(found.alpha), alpha.mean(1), 1e-12, 1e-12));
        EXPECT_TRUE(torch::equal(attend_heads(q, k, v, padded ? lengths : torch::Tensor(), false).y,
                                 found.y));
        const auto single =
            attend_heads(q.to(torch::kFloat), k.to(torch::kFloat), v.to(torch::kFloat),
                         padded ? lengths : torch::Tensor(), true);
        EXPECT_TRUE(torch::allclose(single.y, y.to(torch::kFloat), 1e-5, 1e-5));
      }
    }
  }
}

TEST(ScaledDotProductReference, CausalHeadsHaveTheBitsOfSingleQueriesAndEqualTheReference) {
  for (const std::int64_t width : {1, 18, 64}) {
    for (const std::int64_t steps : {1, 5, 37}) {
      const auto q = heads(steps, width, torch::kFloat);
      const auto k = heads(steps, width, torch::kFloat);
      const auto v = heads(steps, width, torch::kFloat);
      const auto all = attend_heads(q, k, v, {}, true, /*causal=*/true);
      EXPECT_TRUE(torch::equal(attend_heads(q, k, v, {}, false, true).y, all.y));
      const auto alpha = scaled_dot_product_weights(q, k, {}, true);
      EXPECT_TRUE(torch::allclose(all.alpha, alpha, 1e-5, 1e-6)) << width << ' ' << steps;
      EXPECT_TRUE(torch::allclose(all.y, alpha.matmul(v).transpose(1, 2).flatten(2), 1e-5, 1e-5));
      for (std::int64_t t = 0; t < steps; ++t) {
        const auto one =
            attend_heads(q.narrow(2, t, 1), k.narrow(2, 0, t + 1), v.narrow(2, 0, t + 1), {}, true);
        EXPECT_TRUE(torch::equal(one.y, all.y.narrow(1, t, 1))) << width << ' ' << t;
        EXPECT_TRUE(torch::equal(one.alpha, all.alpha.narrow(2, t, 1).narrow(3, 0, t + 1)));
        EXPECT_EQ(all.alpha.select(2, t)
                      .narrow(2, t + 1, steps - t - 1)
                      .count_nonzero()
                      .item<std::int64_t>(),
                  0);
      }
    }
  }
}

TEST(ScaledDotProductReference, InASearchASentencesAttentionToItselfEqualsTheReference) {
  const auto lengths = torch::tensor({41, 1, 16});
  for (const std::int64_t width : {3, 32}) {
    const auto q = heads(41, width, torch::kDouble);
    const auto k = heads(41, width, torch::kDouble);
    const auto v = heads(41, width, torch::kDouble);
    const auto found = attend_to_itself(q, k, v, lengths);  // [B, 41, H · width]
    for (std::int64_t b = 0; b < B; ++b) {
      const auto n = lengths[b].item<std::int64_t>();
      const auto of_sentence = [&](const torch::Tensor& x) {
        return x.narrow(0, b, 1).narrow(2, 0, n);
      };
      const auto y = scaled_dot_product_weights(of_sentence(q), of_sentence(k), {}, false)
                         .matmul(of_sentence(v))
                         .transpose(1, 2)
                         .flatten(2)[0];
      EXPECT_TRUE(torch::allclose(found[b].narrow(0, 0, n), y, 1e-12, 1e-12)) << width << b;
      EXPECT_EQ(found[b].narrow(0, n, 41 - n).count_nonzero().item<int>(), 0);
    }
  }
}

}  // namespace
}  // namespace regard::kernels
