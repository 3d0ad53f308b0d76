#include "kernels/functions.h"

#include <gtest/gtest.h>

#include "tests/gradcheck.h"

namespace regard::kernels::functions_test {
namespace {

TEST(Dropout, KeepsItsShareAndScalesIt) {
  const auto x = torch::ones({1000, 1001});
  for (const auto p : {0.1, 0.5, 0.9}) {
    const auto y = kernels::dropout(x, KeyedDropout{p, 42});
    const auto kept = y.ne(0);
    EXPECT_NEAR(kept.to(torch::kDouble).mean().item<double>(), 1 - p, 0.002);
    EXPECT_TRUE(torch::allclose(y.masked_select(kept), torch::full({1}, 1 / (1 - p))));
  }
}

TEST(Dropout, AKeyIsAMask) {
  const auto x = torch::ones({10000});
  EXPECT_TRUE(torch::equal(kernels::dropout(x, KeyedDropout{0.5, 1}),
                           kernels::dropout(x, KeyedDropout{0.5, 1})));
  // Masks of other keys, also of near ones, agree in half of the places, as independent ones do.
  for (const std::uint64_t key : {2ULL, 3ULL, 1ULL << 32, (1ULL << 32) + 1}) {
    const auto agree = kernels::dropout(x, KeyedDropout{0.5, key})
                           .eq(kernels::dropout(x, KeyedDropout{0.5, 1}))
                           .to(torch::kDouble)
                           .mean();
    EXPECT_NEAR(agree.item<double>(), 0.5, 0.03) << key;
  }
}

TEST(Dropout, NeighboursAreIndependent) {
  const auto kept = kernels::dropout(torch::ones({1 << 20}), KeyedDropout{0.5, 7}).ne(0);
  for (const std::int64_t shift : {1, 2, 8, 64, 512}) {
    const auto agree = kept.slice(0, shift).eq(kept.slice(0, 0, -shift)).to(torch::kDouble).mean();
    EXPECT_NEAR(agree.item<double>(), 0.5, 0.005) << shift;
  }
}

TEST(Dropout, TheGradientPassesTheSameMask) {
  auto x = torch::randn({3, 5}, torch::kDouble).requires_grad_();
  const auto along = torch::randn({3, 5}, torch::kDouble);
  expect_gradients_match(
      [&] {
        return (kernels::dropout(x, KeyedDropout{0.4, 9}) * along).sum();
      },
      {{"x", x}});
}

}  // namespace
}  // namespace regard::kernels::functions_test
