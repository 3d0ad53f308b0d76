#include "kernels/deferred_weight_gradients.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/types.h>

#include <functional>
#include <utility>
#include <vector>

#include "kernels/device.h"
#include "kernels/linear.h"
#include "kernels/mode.h"
#include "tests/gradcheck.h"

namespace regard::kernels::deferred_weight_gradients_reference_test {
namespace {

using torch::Tensor;

constexpr int T = 5;

Tensor weight(at::IntArrayRef shape) {
  return torch::randn(shape, torch::kDouble).requires_grad_();
}

// A loop over time with every kind of product: 2 sentences, states of 3 numbers.
struct Recurrence {
  Tensor U = weight({3, 4});
  Tensor W = weight({3, 4});  // through its transpose, as a Linear's
  Tensor b = weight({3});
  Tensor V = weight({2, 3, 3});  // another matrix for each sentence
  Tensor E = weight({1, 3, 3});  // one of G cells side by side
  Tensor first = weight({2, 3});

  Tensor loss() const {
    auto s = first;
    Tensor sum;
    for (int t = 0; t < T; ++t) {
      const auto u = add_product(s.new_ones({2, 4}), s, U).tanh();
      s = linear(u, W, b).tanh();
      s = deferred_product(s.unsqueeze(1), V).squeeze(1).tanh();
      const auto each = linear_each(s.new_zeros({1, 1, 3}), s.unsqueeze(0), E)[0];
      s = (s + each).tanh() + product(u, U.t());
      sum = sum.defined() ? sum + s.square().sum() : s.square().sum();
    }
    return sum;
  }
  std::vector<Tensor> all() const { return {U, W, b, V, E, first}; }
};

class Late : public testing::Test {
 protected:
  void SetUp() override { torch::manual_seed(3); }
};

TEST_F(Late, ValuesAndGradientsAreThoseOfTheLoop) {
  const Recurrence r;
  const auto plain = r.loss();
  const auto wanted = torch::autograd::grad({plain}, r.all());
  const auto late = Mode::time_loop();
  const auto loss = r.loss();
  EXPECT_TRUE(torch::allclose(loss, plain, 1e-12, 1e-12));
  expect_all_close(torch::autograd::grad({loss}, r.all()), wanted, 1e-10);
}

TEST_F(Late, GradientsMatchCentralDifferences) {
  const Recurrence r;
  expect_gradients_match(
      [&] {
        const auto late = Mode::time_loop();
        return r.loss();
      },
      {{"U", r.U}, {"W", r.W}, {"b", r.b}, {"V", r.V}, {"E", r.E}, {"first", r.first}});
}

TEST_F(Late, TheGradientOutlivesTheScope) {
  const auto W = weight({3, 3});
  const auto x = weight({2, 3});
  Tensor y;
  {
    const auto late = Mode::time_loop();
    y = deferred_product(deferred_product(x, W), W);
  }
  const auto found = torch::autograd::grad({y.sum()}, {W, x});
  const auto wanted = torch::autograd::grad({x.mm(W).mm(W).sum()}, {W, x});
  EXPECT_TRUE(torch::allclose(found[0], wanted[0]));
  EXPECT_TRUE(torch::allclose(found[1], wanted[1]));
}

TEST_F(Late, OtherUsesOfTheWeightAddTheirGradients) {
  const auto W = weight({3, 3});
  const auto x = weight({2, 3});
  const auto late = Mode::time_loop();
  const auto inside = deferred_product(x, W).sum();
  const auto found = torch::autograd::grad({inside + W.square().sum()}, {W});
  EXPECT_TRUE(torch::allclose(found[0], x.t().mm(torch::ones({2, 3}, torch::kDouble)) + 2 * W));
}

TEST_F(Late, EachGradientCountsItsOwnStepsOnly) {
  const auto W = weight({3, 3});
  const auto x = weight({2, 3});
  const auto late = Mode::time_loop();
  const auto y = deferred_product(x, W).sum();
  const auto unused = deferred_product(x, W);  // of a step that nobody waits for
  const auto first = torch::autograd::grad({y}, {W}, {}, /*retain_graph=*/true);
  torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true);  // leaves nothing for W
  const auto second = torch::autograd::grad({y}, {W});
  EXPECT_TRUE(torch::equal(first[0], second[0]));
  EXPECT_TRUE(torch::allclose(first[0], x.t().mm(torch::ones({2, 3}, torch::kDouble))));
}

TEST_F(Late, ScopesDoNotShareTheirSteps) {
  const auto W = weight({3, 3});
  const auto x = weight({2, 3});
  const auto outer = Mode::time_loop();
  const auto a = deferred_product(x, W).sum();
  Tensor b;
  {
    const auto inner = Mode::time_loop();
    b = deferred_product(2 * x, W).sum();
  }
  const auto of_a = torch::autograd::grad({a}, {W});
  const auto of_b = torch::autograd::grad({b}, {W});
  EXPECT_TRUE(torch::allclose(of_b[0], 2 * of_a[0]));
}

TEST_F(Late, NothingIsLateWhereNothingAsksForIt) {
  const auto W = weight({3, 3});
  EXPECT_FALSE(is_deferred(W));
  const auto late = Mode::time_loop();
  EXPECT_TRUE(is_deferred(W));
  EXPECT_FALSE(is_deferred(W.detach()));
  {
    const torch::NoGradGuard guard;
    EXPECT_FALSE(is_deferred(W));
  }
  use_reference(true);
  EXPECT_FALSE(is_deferred(W));
  use_reference(false);
}

}  // namespace
}  // namespace regard::kernels::deferred_weight_gradients_reference_test
