#include "model/output/batch_shortlist.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <limits>

#include "kernels/linear.h"
#include "kernels/mode.h"

namespace regard::batch_shortlist_reference_test {
namespace {

using Lists = std::vector<std::vector<std::int32_t>>;

constexpr std::int64_t V = 203, R = 37;
const Lists lists = {{3, 7, 150}, {0, 1, 2, 3, 90, 91, 92, 200, 201, 202}, {3, 7}};

// Two rows per sentence.
struct Layer {
  Layer() {
    torch::manual_seed(5);
    W = torch::randn({V, R}).requires_grad_();
    b = torch::randn({V}).requires_grad_();
    x = torch::randn({6, R});
  }
  torch::Tensor W, b, x;
};

TEST(BatchShortlistReference, LogitsHaveTheBitsOfTheWholeLayerInEveryPrecision) {
  const Layer layer;
  const torch::InferenceMode guard;
  for (const auto precision :
       {kernels::Precision::full, kernels::Precision::bf16, kernels::Precision::int8}) {
    if (!kernels::can_multiply(precision)) continue;
    kernels::PackedWeights packed(precision);
    const auto mode = kernels::Mode::search(packed);
    const auto all = kernels::linear(layer.x, layer.W, layer.b);
    BatchShortlist shortlist(lists, torch::kCPU);
    const auto sentences = torch::tensor({0, 1, 2});
    const auto tokens = shortlist.tokens(sentences);
    const auto found = shortlist.logits(layer.x, layer.W, layer.b, sentences);
    ASSERT_EQ(found.sizes(), torch::IntArrayRef({6, 10}));
    for (std::int64_t n = 0; n < 6; ++n) {
      const auto& list = lists[static_cast<std::size_t>(n / 2)];
      for (std::int64_t k = 0; k < 10; ++k) {
        const auto token = tokens[n / 2][k].item<std::int64_t>();
        if (k < static_cast<std::int64_t>(list.size())) {
          EXPECT_EQ(token, list[static_cast<std::size_t>(k)]);
          EXPECT_EQ(found[n][k].item<float>(), all[n][token].item<float>()) << n << ' ' << k;
        } else {
          EXPECT_EQ(token, no_token);
          EXPECT_EQ(found[n][k].item<float>(), -std::numeric_limits<float>::infinity());
        }
      }
    }
  }
}

TEST(BatchShortlistReference, ASentenceHasTheSameBitsInEveryBatch) {
  const Layer layer;
  const torch::InferenceMode guard;
  for (const auto precision :
       {kernels::Precision::full, kernels::Precision::bf16, kernels::Precision::int8}) {
    if (!kernels::can_multiply(precision)) continue;
    kernels::PackedWeights packed(precision);
    const auto mode = kernels::Mode::search(packed);
    BatchShortlist together(lists, torch::kCPU);
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto& list = lists[static_cast<std::size_t>(i)];
      BatchShortlist alone({list}, torch::kCPU);
      const auto rows = layer.x.narrow(0, 2 * i, 2);
      EXPECT_TRUE(torch::equal(alone.logits(rows, layer.W, layer.b, torch::tensor({0})),
                               together.logits(rows, layer.W, layer.b, torch::tensor({i}))
                                   .narrow(1, 0, static_cast<std::int64_t>(list.size()))));
    }
  }
}

TEST(BatchShortlistReference, WithoutPackedWeightsLogitsAreTheSameNumbers) {
  const Layer layer;
  const torch::NoGradGuard guard;
  BatchShortlist shortlist(lists, torch::kCPU);
  const auto found = shortlist.logits(layer.x, layer.W, layer.b, torch::tensor({0, 1, 2}));
  const auto all = torch::linear(layer.x, layer.W, layer.b);
  EXPECT_TRUE(torch::allclose(found[0].narrow(0, 0, 3),
                              all[0].index_select(0, torch::tensor({3, 7, 150})), 1e-5, 1e-5));
  EXPECT_TRUE(found[5].narrow(0, 2, 8).isinf().all().item<bool>());
}

}  // namespace
}  // namespace regard::batch_shortlist_reference_test
