#include "model/rnn/stack.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "model/random_stream.h"

namespace regard::stack_reference_test {
namespace {

// With numbers of its own for each norm, to tell them apart.
Stack make_stack(bool residual, bool layer_norm, double dropout) {
  torch::manual_seed(1);
  Stack stack(3, 5, residual, layer_norm, dropout);
  const torch::NoGradGuard guard;
  for (auto& parameter : stack.parameters()) parameter.uniform_(-1, 1);
  return stack;
}

// Norm l is that before layer l, norm 3 the top's.
torch::Tensor norm(const Stack& stack, int l, const torch::Tensor& x) {
  const auto parameters = stack.named_parameters();
  const auto name = "norm" + std::to_string(l);
  const auto mean = x.mean(-1, /*keepdim=*/true);
  const auto deviation = ((x - mean).square().mean(-1, /*keepdim=*/true) + 1e-5).sqrt();
  return parameters[name + ".g"] * (x - mean) / deviation + parameters[name + ".b"];
}

TEST(StackReference, LayersAreJoinedAsTheOptionsSay) {
  const auto x = torch::randn({2, 3, 5});
  const auto y = torch::randn({2, 3, 5});
  for (const bool residual : {false, true}) {
    for (const bool layer_norm : {false, true}) {
      const auto stack = make_stack(residual, layer_norm, /*dropout=*/0);
      const auto expect_norm = [&](const torch::Tensor& found, int l) {
        EXPECT_TRUE(torch::allclose(found, layer_norm ? norm(stack, l, x) : x, 1e-4, 1e-5)) << l;
      };
      expect_norm(stack.layer_input(1, x), 1);
      expect_norm(stack.layer_input(2, x), 2);
      expect_norm(stack.final_norm(x), 3);
      EXPECT_TRUE(torch::allclose(stack.add_residual(2, x, y), residual ? x + y : y));
      EXPECT_TRUE(torch::equal(stack.add_residual(0, x, y), y));  // below, widths may differ
      EXPECT_EQ(stack.parameters().size(), layer_norm ? 6u : 0u);
    }
  }
}

TEST(StackReference, DropoutFallsOnWhatALayerReadsAndOnNothingElse) {
  auto stack = make_stack(/*residual=*/true, /*layer_norm=*/false, /*dropout=*/0.5);
  const auto x = torch::ones({20, 5});
  stack.train();
  const RandomStream stream(1, 1);
  const auto read = stack.layer_input(1, x);
  EXPECT_TRUE(read.eq(0).logical_or(read.eq(2)).all().item<bool>());
  EXPECT_TRUE(read.eq(0).any().item<bool>());
  EXPECT_TRUE(read.eq(2).any().item<bool>());
  EXPECT_TRUE(torch::equal(stack.add_residual(1, x, x), x + x));
  EXPECT_TRUE(torch::equal(stack.final_norm(x), x));
  stack.eval();
  EXPECT_TRUE(torch::equal(stack.layer_input(1, x), x));
}

}  // namespace
}  // namespace regard::stack_reference_test
