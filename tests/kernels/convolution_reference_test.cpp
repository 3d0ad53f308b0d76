#include "kernels/linear.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "tests/gradcheck.h"

namespace regard::kernels::convolution_reference_test {
namespace {

// A convolution of LibTorch whose weights are ordered as those of a row of neighbourhoods().
torch::Tensor convolution(const torch::Tensor& x, const torch::Tensor& W) {
  const auto C = x.size(3);
  const auto weight = W.view({W.size(0), 3, 3, C}).permute({0, 3, 1, 2});
  return torch::conv2d(x.permute({0, 3, 1, 2}), weight, {}, 1, 1).permute({0, 2, 3, 1});
}

TEST(ConvolutionReference, AProductOfNeighbourhoodsIsAConvolution) {
  torch::manual_seed(1);
  for (const auto& [H, W, C] : {std::tuple(6, 4, 3), {1, 1, 2}, {2, 7, 1}, {5, 5, 16}}) {
    const auto x = torch::randn({3, H, W, C}, torch::kDouble).requires_grad_();
    const auto weight = torch::randn({5, 9 * C}, torch::kDouble).requires_grad_();
    const auto y = kernels::linear(neighbourhoods(x), weight);
    const auto expected = convolution(x, weight);
    EXPECT_TRUE(torch::allclose(y, expected, 1e-12, 1e-12));
    const auto along = torch::randn_like(y);
    const auto gradients = [&](const torch::Tensor& result) {
      return torch::autograd::grad({(result * along).sum()}, {x, weight});
    };
    expect_all_close(gradients(y), gradients(expected), 1e-12);
  }
}

TEST(ConvolutionReference, NeighbourhoodsAcceptImagesThatAreNotContiguous) {
  const auto x = torch::randn({2, 3, 4, 5}).permute({0, 2, 3, 1});
  EXPECT_TRUE(torch::equal(neighbourhoods(x), neighbourhoods(x.contiguous())));
}

TEST(ConvolutionReference, GradientsEqualCentralDifferences) {
  torch::manual_seed(2);
  const auto x = torch::randn({2, 3, 4, 2}, torch::kDouble).requires_grad_();
  const auto along = torch::randn({2, 3, 4, 18}, torch::kDouble);
  expect_gradients_match([&] { return (neighbourhoods(x).square() * along).sum(); }, {{"x", x}});
}

}  // namespace
}  // namespace regard::kernels::convolution_reference_test
