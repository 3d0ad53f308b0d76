// The fused residual sum and normalisation equal LibTorch's operations, also in their gradients.
#include "kernels/layer_norm.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <cstdint>
#include <vector>

#include "kernels/device.h"
#include "kernels/functions.h"
#include "tests/gradcheck.h"

namespace regard::kernels::layer_norm_reference_test {
namespace {

using torch::Tensor;

constexpr KeyedDropout no_dropout = {};
constexpr KeyedDropout some_dropout = {.p = 0.3, .key = 5};

// Which of the two results the loss reads.
enum class Used { both, sum, norm };

struct Case {
  Case(std::int64_t rows, std::int64_t D, bool with_z, torch::ScalarType type)
      : x(torch::randn({rows, D}, type).requires_grad_()),
        g((1 + 0.5 * torch::randn({D}, type)).requires_grad_()),
        b(torch::randn({D}, type).requires_grad_()),
        along(torch::randn({2, rows, D}, type)) {
    if (with_z) z = torch::randn({rows, D}, type).requires_grad_();
  }
  Tensor loss(const NormOfSum& result, Used used) const {
    const auto sum = (result.sum * along[0]).sum();
    const auto norm = (result.norm * along[1]).sum();
    return used == Used::both ? sum + norm : used == Used::sum ? sum : norm;
  }
  std::vector<Tensor> inputs() const {
    std::vector<Tensor> tensors = {x, g, b};
    if (z.defined()) tensors.push_back(z);
    return tensors;
  }
  // The results and the gradients of the inputs.
  std::vector<Tensor> computed(const NormOfSum& result, Used used) const {
    auto tensors = torch::autograd::grad({loss(result, used)}, inputs(), {}, {}, false,
                                         /*allow_unused=*/true);
    tensors.push_back(result.sum);
    tensors.push_back(result.norm);
    return tensors;
  }

  Tensor x, z, g, b, along;
};

// With the mask of `dropout`, unlike the reference implementation.
NormOfSum plain(const Case& c, const KeyedDropout& dropout) {
  const auto sum = c.z.defined() ? c.x + kernels::dropout(c.z, dropout) : c.x;
  return {sum, torch::layer_norm(sum, c.g.sizes(), c.g, c.b, 1e-5)};
}

class LayerNormReference : public testing::Test {
 protected:
  LayerNormReference() { torch::manual_seed(1); }
  ~LayerNormReference() override { use_reference(false); }
};

TEST_F(LayerNormReference, ValuesAndGradientsAreThoseOfLibTorch) {
  for (const auto type : {torch::kDouble, torch::kFloat}) {
    const auto tolerance = type == torch::kDouble ? 1e-11 : 2e-4;
    for (const std::int64_t rows : {1, 3, 70}) {
      for (const std::int64_t D : {2, 5, 16, 33, 128, 200}) {
        for (const bool with_z : {false, true}) {
          const Case c(rows, D, with_z, type);
          for (const auto& dropout : {no_dropout, some_dropout}) {
            for (const auto used : {Used::both, Used::sum, Used::norm}) {
              SCOPED_TRACE(testing::Message() << type << ", " << rows << " rows of " << D << ", z "
                                              << with_z << ", p " << dropout.p);
              expect_all_close(c.computed(add_and_norm(c.x, c.z, dropout, c.g, c.b), used),
                               c.computed(plain(c, dropout), used), tolerance);
            }
          }
        }
      }
    }
  }
}

TEST_F(LayerNormReference, TheReferenceImplementationIsEqualWithoutDropout) {
  const Case c(7, 33, true, torch::kDouble);
  const auto fused = c.computed(add_and_norm(c.x, c.z, no_dropout, c.g, c.b), Used::both);
  use_reference(true);
  expect_all_close(c.computed(add_and_norm(c.x, c.z, no_dropout, c.g, c.b), Used::both), fused,
                   1e-11);
}

TEST_F(LayerNormReference, GradientsEqualCentralDifferences) {
  const Case c(3, 7, true, torch::kDouble);
  expect_gradients_match(
      [&] { return c.loss(add_and_norm(c.x, c.z, some_dropout, c.g, c.b), Used::both); },
      {{"x", c.x}, {"z", c.z}, {"g", c.g}, {"b", c.b}}, 1e-5);
}

TEST_F(LayerNormReference, AnyLayoutIsRead) {
  const Case c(6, 6, true, torch::kDouble);
  const Tensor x = c.x.detach().t();
  const Tensor z = c.z.detach().t();
  const auto found = add_and_norm(x, z, some_dropout, c.g, c.b);
  const auto expected = add_and_norm(x.contiguous(), z.contiguous(), some_dropout, c.g, c.b);
  EXPECT_TRUE(torch::equal(found.sum, expected.sum));
  EXPECT_TRUE(torch::equal(found.norm, expected.norm));
}

TEST_F(LayerNormReference, ARowsResultDoesNotDependOnTheOthers) {
  const torch::NoGradGuard guard;
  for (const std::int64_t D : {7, 128, 203}) {
    const Case c(9, D, true, torch::kFloat);
    const auto all = add_and_norm(c.x, c.z, no_dropout, c.g, c.b);
    for (std::int64_t i = 0; i < 9; ++i) {
      const auto one = add_and_norm(c.x.narrow(0, i, 1), c.z.narrow(0, i, 1), no_dropout, c.g, c.b);
      EXPECT_TRUE(torch::equal(one.sum[0], all.sum[i])) << D << " " << i;
      EXPECT_TRUE(torch::equal(one.norm[0], all.norm[i])) << D << " " << i;
    }
  }
}

TEST_F(LayerNormReference, NoRowsAreNoError) {
  const Case c(0, 8, true, torch::kFloat);
  const auto found = c.computed(add_and_norm(c.x, c.z, some_dropout, c.g, c.b), Used::both);
  EXPECT_TRUE(torch::equal(found[1], torch::zeros({8})));  // of g
}

}  // namespace
}  // namespace regard::kernels::layer_norm_reference_test
