#include "kernels/token_probabilities.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>

#include "kernels/functions.h"
#include "kernels/linear.h"
#include "kernels/mode.h"
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
      const auto mode = Mode::search(packed);
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

}  // namespace
}  // namespace regard::kernels::token_probabilities_reference_test
