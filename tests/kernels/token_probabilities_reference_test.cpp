#include "kernels/token_probabilities.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>

#include "kernels/functions.h"
#include "kernels/linear.h"
#include "kernels/packed_weights.h"

namespace regard::kernels::token_probabilities_reference_test {
namespace {

TEST(TopKReference, EqualsTheReference) {
  torch::manual_seed(2);
  for (const auto type : {torch::kDouble, torch::kFloat}) {
    for (const std::int64_t V : {3, 64, 65, 1000}) {
      const auto logits = torch::randn({7, V}, type) * 5;
      for (const std::int64_t k : {1, 2, 3}) {
        const auto fused = top_log_probabilities(logits, k);
        const auto plain = top_log_probabilities_reference(logits, k);
        EXPECT_TRUE(torch::equal(fused.indices, plain.indices));
        EXPECT_TRUE(torch::allclose(fused.log_p, plain.log_p, 1e-5, 1e-5));
      }
    }
  }
}

TEST(TopKReference, OfEqualsTheLowerComesFirst) {
  const auto logits = torch::zeros({1, 200});
  logits[0][150] = 1;
  const auto top = top_log_probabilities(logits, 4);
  EXPECT_TRUE(torch::equal(top.indices, torch::tensor({{150, 0, 1, 2}})));
}

TEST(TopKReference, RisingLogitsAreAllSeen) {
  const auto logits = torch::arange(300, torch::kDouble).unsqueeze(0);
  const auto top = top_log_probabilities(logits, 5);
  EXPECT_TRUE(torch::equal(top.indices, torch::tensor({{299, 298, 297, 296, 295}})));
}

TEST(TopKReference, MinusInfinityIsNoProbabilityAndNotANumberIsNotHidden) {
  const auto infinity = std::numeric_limits<float>::infinity();
  auto top = top_log_probabilities(torch::tensor({{0.0F, -infinity, 0.0F}}), 3);
  EXPECT_NEAR(top.log_p[0][0].item<float>(), -std::log(2), 1e-6);
  EXPECT_EQ(top.log_p[0][2].item<float>(), -infinity);
  top = top_log_probabilities(torch::tensor({{0.0F, std::nanf(""), 1.0F}}), 1);
  EXPECT_TRUE(top.log_p.isnan().all().item<bool>());
}

TEST(TargetLogProbabilitiesReference, EqualsTheSoftmaxOfAllTokens) {
  torch::manual_seed(3);
  const torch::InferenceMode guard;
  for (const std::int64_t N : {0, 1, 192, 500}) {
    for (const std::int64_t V : {3, 203}) {
      const auto rows = torch::randn({N, 37});
      const auto W = torch::randn({V, 37});
      const auto b = torch::randn({V});
      const auto targets = torch::randint(0, V, {N}, torch::kInt64);
      const auto pick = [&](const torch::Tensor& log_p) {
        return log_p.gather(1, targets.unsqueeze(1)).squeeze(1);
      };
      const auto expected = pick(torch::linear(rows, W, b).log_softmax(-1));
      EXPECT_TRUE(torch::allclose(target_log_probabilities(rows, W, b, targets), expected));
      PackedWeights packed;
      const WithPackedWeights with(packed);
      const auto found = target_log_probabilities(rows, W, b, targets);
      EXPECT_TRUE(torch::allclose(found, expected, 1e-5, 1e-4));
      EXPECT_TRUE(torch::equal(found, pick(log_softmax(linear(rows, W, b))))) << N << ' ' << V;
    }
  }
}

TEST(SelectColumnsReference, EqualsTheReference) {
  const auto logits = torch::randn({6, 9});
  const auto columns = torch::tensor({{8, 0, 3}, {2, -1, -1}, {5, 6, -1}});
  const auto found = select_columns(logits, columns);
  EXPECT_TRUE(torch::equal(found, select_columns_reference(logits, columns)));
  EXPECT_EQ(found[1][0].item<float>(), logits[1][8].item<float>());
  EXPECT_EQ(found[2][0].item<float>(), logits[2][2].item<float>());
  EXPECT_EQ(found[3][1].item<float>(), -std::numeric_limits<float>::infinity());
}

// Words of the vocabulary 0 … 4, and 5 and 6 behind it.
TEST(CopyMixtureReference, ACopyMixtureIsTheSumOfBothProbabilities) {
  const auto ids = torch::tensor({{4, 5, 4, 2}, {6, 1, 0, 0}});
  const auto lengths = torch::tensor({4, 2});
  for (const auto type : {torch::kDouble, torch::kFloat}) {
    const auto log_p = torch::randn({2, 3, 5}, type).log_softmax(-1);
    const auto gate = torch::randn({2, 3, 1}, type);
    auto weights = torch::rand({2, 3, 4}, type);
    weights[1].narrow(1, 2, 2).fill_(0);
    weights[0][1][3] = 0;  // of a word of the vocabulary
    weights = weights / weights.sum(-1, true);
    const auto found = copy_mixture(log_p, gate, weights, ids, lengths, 7);
    ASSERT_EQ(found.sizes(), torch::IntArrayRef({2, 3, 7}));
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t g = 0; g < 3; ++g) {
        const auto p_gen = 1 / (1 + std::exp(-gate[b][g][0].item<double>()));
        for (std::int64_t y = 0; y < 7; ++y) {
          double p = y < 5 ? p_gen * std::exp(log_p[b][g][y].item<double>()) : 0;
          for (std::int64_t s = 0; s < lengths[b].item<std::int64_t>(); ++s) {
            if (ids[b][s].item<std::int64_t>() == y) {
              p += (1 - p_gen) * weights[b][g][s].item<double>();
            }
          }
          EXPECT_NEAR(std::exp(found[b][g][y].item<double>()), p,
                      type == torch::kDouble ? 1e-12 : 1e-6);
        }
      }
    }
  }
}

TEST(CopyMixtureReference, AWordBehindTheVocabularyThatLostAllWeightHasTheLeastProbability) {
  const auto weights = torch::tensor({{{1.0, 0.0}}});
  const auto found = copy_mixture(torch::zeros({1, 1, 2}).log_softmax(-1), torch::zeros({1, 1, 1}),
                                  weights, torch::tensor({{0, 2}}), torch::tensor({2}), 4);
  EXPECT_NEAR(found[0][0][2].item<double>(),
              std::log(std::numeric_limits<float>::min()) + std::log(0.5), 1e-4);
  EXPECT_EQ(found[0][0][3].item<double>(), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace regard::kernels::token_probabilities_reference_test
