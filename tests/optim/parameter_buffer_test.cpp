#include "optim/parameter_buffer.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <cmath>
#include <limits>
#include <vector>

namespace regard::parameter_buffer_test {
namespace {

TEST(ParameterBuffer, ParametersKeepTheirIdentityValuesAndGradients) {
  auto a = torch::randn({3, 5}).requires_grad_();
  auto b = torch::randn({7}).requires_grad_();
  const auto a_before = a.detach().clone(), b_before = b.detach().clone();
  const auto buffer = ParameterBuffer::adopt({{"a", a}, {"b", b}});
  EXPECT_TRUE(torch::equal(a.detach(), a_before));
  EXPECT_TRUE(torch::equal(b.detach(), b_before));
  EXPECT_TRUE(buffer.views()[0].second.is_same(a));
  buffer.flat().fill_(2);
  EXPECT_EQ(a.sum().item<float>(), 30);
  const auto g = torch::autograd::grad({(a.sum() * b.sum())}, {a, b});
  EXPECT_EQ(g[0][0][0].item<float>(), 14);
}

TEST(ParameterBuffer, PartsBeginAtMultiplesOf64BytesAndGapsAreZero) {
  for (const auto type : {torch::kFloat, torch::kDouble}) {
    auto a = torch::ones({3}, type), b = torch::ones({1}, type), c = torch::ones({40}, type);
    const auto buffer = ParameterBuffer::adopt({{"a", a}, {"b", b}, {"c", c}});
    for (const auto& [name, view] : buffer.views()) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data_ptr()) % 64, 0U) << name;
    }
    EXPECT_EQ(buffer.flat().sum().item<double>(), 44);
    EXPECT_EQ(buffer.flat().nbytes(), type == torch::kFloat ? 320U : 448U);
  }
}

TEST(ParameterBuffer, ZerosHaveTheSameLayout) {
  auto a = torch::ones({3}), b = torch::ones({2, 2});
  const auto buffer = ParameterBuffer::adopt({{"a", a}, {"b", b}});
  const auto zeros = buffer.zeros_like();
  EXPECT_EQ(zeros.flat().sizes(), buffer.flat().sizes());
  EXPECT_EQ(zeros.views()[1].first, "b");
  EXPECT_EQ(zeros.views()[1].second.sizes(), b.sizes());
  EXPECT_EQ(zeros.views()[1].second.storage_offset(), b.storage_offset());
  EXPECT_EQ(zeros.flat().sum().item<float>(), 0);
}

TEST(ParameterBuffer, RangesCoverEachElementOnceOnAnyNumberOfThreads) {
  const auto buffer = torch::zeros({200001});
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    buffer.zero_();
    std::vector<std::int64_t> begins(range_count(buffer));
    for_each_range(buffer, pool, [&](std::size_t i, std::int64_t begin, std::int64_t end) {
      begins[i] = begin;
      buffer.slice(0, begin, end).add_(1);
    });
    EXPECT_TRUE(buffer.eq(1).all().item<bool>());
    EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 65536, 131072, 196608}));
  }
}

TEST(ParameterBuffer, TheNormIsThatOfAllElementsAndTheSameOnAnyNumberOfThreads) {
  const auto buffer = torch::randn({300000});
  ThreadPool one(1), three(3);
  const auto norm_on = [&](ThreadPool& pool) { return norm(buffer, pool).item<double>(); };
  EXPECT_NEAR(norm_on(one), buffer.to(torch::kDouble).norm().item<double>(), 1e-3);
  EXPECT_EQ(norm_on(one), norm_on(three));
  buffer[299999] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(norm_on(three)));
  EXPECT_FALSE(is_finite(buffer));
  buffer[299999] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(norm_on(three)));
  EXPECT_FALSE(is_finite(buffer));
}

TEST(ParameterBuffer, ContentsAreSwappedThroughASmallScratch) {
  const auto a = torch::randn({150000}), b = torch::randn({150000});
  const auto a_before = a.clone(), b_before = b.clone();
  const auto scratch = swap_scratch(a);
  EXPECT_LT(scratch.numel(), a.numel());
  swap_contents(a, b, scratch);
  EXPECT_TRUE(torch::equal(a, b_before));
  EXPECT_TRUE(torch::equal(b, a_before));
}

}  // namespace
}  // namespace regard::parameter_buffer_test
