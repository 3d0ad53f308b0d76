#include "model/rnn/stack.h"

#include <gtest/gtest.h>

namespace regard {
namespace {

TEST(StackReference, LayersAreJoinedAsTheOptionsSay) {
  const auto x = torch::randn({2, 3, 5});
  const auto y = torch::randn({2, 3, 5});
  const auto norm = [](const torch::Tensor& z) {
    const auto mean = z.mean(-1, /*keepdim=*/true);
    return (z - mean) / ((z - mean).square().mean(-1, /*keepdim=*/true) + 1e-5).sqrt();
  };
  for (const bool residual : {false, true}) {
    for (const bool layer_norm : {false, true}) {
      const Stack stack(3, 5, residual, layer_norm, /*dropout=*/0);
      EXPECT_TRUE(torch::allclose(stack.input(1, x), layer_norm ? norm(x) : x, 1e-4, 1e-5));
      EXPECT_TRUE(torch::allclose(stack.joined(2, x, y), residual ? x + y : y));
      EXPECT_TRUE(torch::equal(stack.joined(0, x, y), y));  // below, widths may differ
      EXPECT_TRUE(torch::allclose(stack.top(x), layer_norm ? norm(x) : x, 1e-4, 1e-5));
      EXPECT_EQ(stack.parameters().size(), layer_norm ? 6u : 0u);
    }
  }
}

}  // namespace
}  // namespace regard
