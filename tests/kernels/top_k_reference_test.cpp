#include "kernels/top_k.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

namespace regard::kernels {
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

}  // namespace
}  // namespace regard::kernels
