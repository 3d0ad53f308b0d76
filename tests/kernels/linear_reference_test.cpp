#include "kernels/linear.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "kernels/device.h"
#include "kernels/gru.h"
#include "kernels/packed_weights.h"

namespace regard::kernels {
namespace {

class LinearReference : public testing::Test {
 protected:
  LinearReference() { torch::manual_seed(1); }
  ~LinearReference() override { use_reference(false); }

  // Returns the result of `compute` with packed weights in use.
  template <typename F>
  torch::Tensor packed(const F& compute) {
    const torch::NoGradGuard guard;
    const WithPackedWeights with(packed_);
    return compute();
  }
  template <typename F>
  void expect_packed_equals_plain(const F& compute) {
    for (int again = 0; again < 2; ++again) {
      EXPECT_TRUE(torch::allclose(packed(compute), compute(), 1e-12, 1e-12));
    }
  }

  static torch::Tensor draw(at::IntArrayRef sizes) { return torch::randn(sizes, torch::kDouble); }

  PackedWeights packed_;
};

TEST_F(LinearReference, PackedWeightsChangeNoProduct) {
  const auto W = draw({7, 5});
  const auto b = draw({7});
  const auto x = draw({2, 3, 5});
  expect_packed_equals_plain([&] { return kernels::linear(x, W, b); });
  expect_packed_equals_plain([&] { return kernels::linear(x, W); });
  expect_packed_equals_plain([&] { return kernels::linear(x.transpose(0, 1), W, b); });
  expect_packed_equals_plain([&] { return product(x[0], W.t()); });
  const auto sides = draw({2, 5, 6});
  const auto biases = draw({2, 1, 6});
  expect_packed_equals_plain([&] { return linear_each(biases, x, sides); });
  const auto others = draw({2, 3, 6});
  expect_packed_equals_plain([&] { return linear_each(others, x, sides); });
}

TEST_F(LinearReference, APartOfAWeightIsAWeightOfItsOwn) {
  const auto W = draw({5, 12});
  const auto x = draw({3, 5});
  expect_packed_equals_plain([&] { return product(x, W); });
  expect_packed_equals_plain([&] { return product(x, W.narrow(1, 0, 8)); });
  expect_packed_equals_plain([&] { return product(x, W.narrow(1, 8, 4)); });
}

TEST_F(LinearReference, ABiasIsLeftAsItIs) {
  const auto b = draw({7});
  const auto before = b.clone();
  packed([&] { return kernels::linear(draw({1, 5}), draw({7, 5}), b); });
  EXPECT_TRUE(torch::equal(b, before));
}

TEST_F(LinearReference, OneGruStepEqualsItsReferenceInBothForms) {
  const auto x = draw({3, 12});
  const auto s = draw({3, 4});
  const auto U = draw({4, 12});
  const auto b_U = draw({4});
  expect_packed_equals_plain([&] { return gru_step(x, s, U, {}); });
  expect_packed_equals_plain([&] { return gru_step(x, s, U, b_U); });
}

TEST_F(LinearReference, WithPackedWeightsARowIsTheSameToTheBitWhateverTheOthersAre) {
  const auto W = torch::randn({70, 300});
  const auto b = torch::randn({70});
  const auto x = torch::randn({41, 300});
  const auto together = packed([&] { return kernels::linear(x, W, b); });
  for (std::int64_t n = 1; n < 41; n += 3) {
    const auto some = packed([&] { return kernels::linear(x.narrow(0, 0, n), W, b); });
    EXPECT_TRUE(torch::equal(some, together.narrow(0, 0, n))) << n;
  }
}

TEST_F(LinearReference, WhereAGradientIsWantedWeightsAreNotPacked) {
  const WithPackedWeights with(packed_);
  const auto W = draw({7, 5}).requires_grad_();
  kernels::linear(draw({3, 5}), W).sum().backward();
  EXPECT_TRUE(W.grad().defined());
}

TEST_F(LinearReference, WithoutKernelsWeightsAreNotPacked) {
  const torch::NoGradGuard guard;
  const WithPackedWeights with(packed_);
  const auto W = draw({7, 5});
  EXPECT_EQ(packed_weights_for(W), &packed_);
  EXPECT_EQ(packed_weights_for(W.to(torch::kHalf)), nullptr);
  use_reference(true);
  EXPECT_EQ(packed_weights_for(W), nullptr);
}

}  // namespace
}  // namespace regard::kernels
