// In a search the functions equal LibTorch's, and a number's result does not depend on its place.
#include "kernels/functions.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "kernels/mode.h"
#include "kernels/packed_weights.h"

namespace regard::kernels::functions_reference_test {
namespace {

using torch::Tensor;

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

class FunctionsReference : public testing::Test {
 protected:
  FunctionsReference() { torch::manual_seed(1); }

  // As a search computes it.
  template <typename F>
  Tensor in_search(const F& compute) {
    const torch::NoGradGuard guard;
    const auto mode = Mode::search(packed_);
    return compute();
  }
  // `compute` in a search against itself outside of one, where it is LibTorch's.
  template <typename F>
  void expect_libtorchs(const F& compute, double tolerance) {
    const auto found = in_search(compute);
    EXPECT_TRUE(torch::allclose(found, compute(), tolerance, tolerance, /*equal_nan=*/true));
  }

  PackedWeights packed_;
};

struct Named {
  std::string name;
  Tensor (*function)(const Tensor&);
};
const std::vector<Named> elementwise_functions = {
    {"tanh", kernels::tanh}, {"sigmoid", kernels::sigmoid},   {"exp", kernels::exp},
    {"log", kernels::log},   {"softplus", kernels::softplus}, {"log_sigmoid", kernels::log_sigmoid},
    {"gelu", kernels::gelu}};
const std::vector<Named> row_functions = {
    {"softmax", kernels::softmax},
    {"log_softmax", kernels::log_softmax},
    {"unit", [](const Tensor& x) { return kernels::unit(x, 1e-8); }}};

Tensor drawn_for(const std::string& name, at::IntArrayRef sizes, torch::ScalarType type) {
  const auto x = torch::randn(sizes, type) * 10;
  return name == "log" ? x.exp() : x;
}

TEST_F(FunctionsReference, ElementsAreThoseOfLibTorch) {
  for (const auto& [name, function] : elementwise_functions) {
    SCOPED_TRACE(name);
    const auto x = drawn_for(name, {3, 431}, torch::kDouble);
    expect_libtorchs([&] { return function(x); }, 1e-12);
    expect_libtorchs([&] { return function(x.t()); }, 1e-12);
    const auto single = x.to(torch::kFloat);
    expect_libtorchs([&] { return function(single); }, name == "gelu" ? 1e-6 : 3e-7);
  }
}

TEST_F(FunctionsReference, RowsAreThoseOfLibTorch) {
  for (const auto& [name, function] : row_functions) {
    SCOPED_TRACE(name);
    for (const std::int64_t width : {1, 5, 64, 203}) {
      const auto x = torch::randn({2, 7, width}, torch::kDouble);
      expect_libtorchs([&] { return function(x); }, 1e-12);
      expect_libtorchs([&] { return function(x.transpose(0, 1)); }, 1e-12);
      const auto single = x.to(torch::kFloat);
      expect_libtorchs([&] { return function(single); }, 2e-6);
    }
  }
}

TEST_F(FunctionsReference, AnElementsResultDoesNotDependOnItsPlace) {
  for (const auto& [name, function] : elementwise_functions) {
    const auto x = drawn_for(name, {203}, torch::kFloat);
    const auto all = in_search([&] { return function(x); });
    for (std::int64_t i = 0; i < 203; ++i) {
      for (const std::int64_t n : {1, 2, 31}) {
        const auto end = std::min<std::int64_t>(i + n, 203);
        EXPECT_TRUE(torch::equal(in_search([&] { return function(x.slice(0, i, end)); }),
                                 all.slice(0, i, end)))
            << name << i << n;
      }
    }
  }
}

TEST_F(FunctionsReference, ARowsResultDoesNotDependOnTheOthers) {
  for (const auto& [name, function] : row_functions) {
    const auto x = torch::randn({9, 37});
    const auto all = in_search([&] { return function(x); });
    for (std::int64_t i = 0; i < 9; ++i) {
      EXPECT_TRUE(
          torch::equal(in_search([&] { return function(x.slice(0, i, i + 1)); })[0], all[i]))
          << name << i;
    }
  }
}

TEST_F(FunctionsReference, WhatCannotBeSaidAtARowsEndChangesNoLogSoftmax) {
  const auto x = torch::randn({3, 150});
  for (std::int64_t width = 1; width < 150; width += 7) {
    const auto row = x.narrow(1, 0, width);
    const auto longer = torch::constant_pad_nd(row, {0, 71}, minus_infinity);
    const auto found = in_search([&] { return kernels::log_softmax(longer); });
    EXPECT_TRUE(torch::equal(found.narrow(1, 0, width),
                             in_search([&] { return kernels::log_softmax(row); })))
        << width;
    EXPECT_TRUE(found.narrow(1, width, 71).isinf().all().item<bool>());
  }
}

TEST_F(FunctionsReference, ASumOfExponentialsIsLibTorchsAndEachOfItsOwn) {
  auto x = torch::randn({3, 5, 41}, torch::kDouble) * 5;
  x.select(2, 7).fill_(minus_infinity);
  x[1][2][9] = minus_infinity;
  expect_libtorchs([&] { return kernels::log_sum_exp(x); }, 1e-12);
  const auto single = x.to(torch::kFloat);
  expect_libtorchs([&] { return kernels::log_sum_exp(single); }, 1e-6);
  const auto all = in_search([&] { return kernels::log_sum_exp(single); });
  for (std::int64_t n = 0; n < 5; ++n) {
    const auto alone = in_search([&] { return kernels::log_sum_exp(single.narrow(1, n, 1)); });
    EXPECT_TRUE(torch::equal(alone[0], all[n])) << n;
  }
}

TEST_F(FunctionsReference, OutsideOfASearchTheyAreLibTorchs) {
  const auto x = torch::randn({5}, torch::kDouble).requires_grad_();
  for (const auto& [name, function] : row_functions) {
    EXPECT_TRUE(function(x).requires_grad()) << name;
  }
  EXPECT_TRUE(torch::equal(kernels::tanh(x), x.tanh()));
}

}  // namespace
}  // namespace regard::kernels::functions_reference_test
