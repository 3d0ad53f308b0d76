#include "kernels/linear.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <limits>

#include "kernels/device.h"
#include "kernels/functions.h"
#include "kernels/mode.h"
#include "kernels/packed_weights.h"
#include "kernels/recurrence.h"
#include "tests/gradcheck.h"

namespace regard::kernels::linear_reference_test {
namespace {

class LinearReference : public testing::Test {
 protected:
  LinearReference() { torch::manual_seed(1); }
  ~LinearReference() override { use_reference(false); }

  // Returns the result of `compute` with packed weights in use.
  template <typename F>
  torch::Tensor packed(const F& compute) {
    const torch::NoGradGuard guard;
    const auto mode = Mode::search(packed_);
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

TEST_F(LinearReference, OneStepOfEachCellEqualsItsReference) {
  const auto h = draw({3, 4});
  const auto U = draw({4, 12});
  const auto expect_step = [&](std::int64_t gates, const torch::Tensor& state,
                               const RecurrentWeights& cell) {
    const auto x = draw({3, gates * 4});
    expect_packed_equals_plain([&] { return recurrent_step(x, state, cell); });
  };
  expect_step(3, h, {CellForm::gru_reset_before, U});
  expect_step(3, h, {CellForm::gru_reset_after, U, draw({4})});
  expect_step(4, draw({3, 8}), {CellForm::lstm, draw({4, 16})});
  expect_step(1, h, {CellForm::tanh, draw({4, 4})});
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

TEST_F(LinearReference, AReluWithDropoutEqualsItsParts) {
  for (const auto type : {torch::kDouble, torch::kFloat}) {
    const auto drawn = [&](at::IntArrayRef sizes) {
      return torch::randn(sizes, type).requires_grad_();
    };
    const auto tolerance = type == torch::kDouble ? 1e-12 : 1e-4;
    for (const auto& [rows, K, N] : {std::tuple{1, 5, 7}, {70, 33, 48}, {3, 20, 1}}) {
      const auto x = drawn({2, rows, K});
      const auto W = drawn({N, K});
      const auto b = drawn({N});
      const auto along = torch::randn({2, rows, N}, type);
      const auto computed = [&](const torch::Tensor& y) {
        auto tensors = torch::autograd::grad({(y * along).sum()}, {x, W, b});
        tensors.push_back(y);
        return tensors;
      };
      for (const KeyedDropout dropout : {KeyedDropout{}, KeyedDropout{.p = 0.4, .key = 3}}) {
        const auto expected = computed(kernels::dropout(torch::linear(x, W, b).relu(), dropout));
        PackedWeights products;
        for (auto* weights : {static_cast<PackedWeights*>(nullptr), &products}) {
          const auto mode = Mode::training(weights);
          SCOPED_TRACE(testing::Message() << type << " " << N << " " << dropout.p);
          expect_all_close(computed(linear_relu(x, W, b, dropout)), expected, tolerance);
        }
      }
    }
  }
}

TEST_F(LinearReference, InASearchAReluIsThatOfItsProduct) {
  const auto W = draw({7, 5});
  const auto b = draw({7});
  const auto x = draw({2, 3, 5});
  expect_packed_equals_plain([&] { return linear_relu(x, W, b, {}); });
  EXPECT_TRUE(torch::equal(packed([&] { return linear_relu(x, W, b, {}); }),
                           packed([&] { return kernels::linear(x, W, b).relu(); })));
}

TEST_F(LinearReference, AReluKeepsWhatIsNotANumber) {
  auto x = draw({1, 5}).requires_grad_();
  const auto W = draw({7, 5});
  W[3][2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(linear_relu(x, W, draw({7}), {}).isnan().sum().item<int>(), 1);
}

}  // namespace
}  // namespace regard::kernels::linear_reference_test
