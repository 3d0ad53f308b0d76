#include "training/gradient_sum.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace regard::gradient_sum_test {
namespace {

class GradientSumTest : public testing::Test {
 protected:
  // The objective of term i; b takes part in even terms only, c in none.
  torch::Tensor objective(std::size_t i) const {
    const auto x = torch::full({1000}, 0.1 + static_cast<double>(i), torch::kFloat);
    auto sum = (a_ * x).sin().sum();
    if (i % 2 == 0) sum = sum + (b_ * b_).sum() * static_cast<double>(i + 1);
    return sum;
  }
  // The terms in their order, one after another.
  torch::Tensor expected_of_a(std::size_t terms) const {
    torch::Tensor sum;
    for (std::size_t i = 0; i < terms; ++i) {
      const auto g = torch::autograd::grad({objective(i)}, {a_})[0];
      sum = i == 0 ? g.clone() : sum + g;
    }
    return sum;
  }
  torch::Tensor part(std::size_t i) const {
    const auto begin = weights_.views()[i].second.storage_offset();
    return sum_.flat().narrow(0, begin, weights_.views()[i].second.numel());
  }

  torch::Tensor a_ = torch::randn({1000}).requires_grad_();
  torch::Tensor b_ = torch::randn({10}).requires_grad_();
  torch::Tensor c_ = torch::randn({10}).requires_grad_();
  ParameterBuffer weights_ = ParameterBuffer::adopt({{"a", a_}, {"b", b_}, {"c", c_}});
  GradientSum sum_{weights_};
};

TEST(GradientSumOfFrozenParameters, IsZeroAndLeavesTheOthersAsTheyAre) {
  const auto a = torch::randn({100}).requires_grad_();
  auto b = torch::randn({10}).requires_grad_();
  const auto weights = ParameterBuffer::adopt({{"a", a}, {"b", b}});
  b.set_requires_grad(false);
  GradientSum sum(weights);
  sum.begin();
  sum.add(0, (a * b[0]).sin().sum() + (b * b).sum());
  sum.finish();
  const auto expected = torch::autograd::grad({(a * b[0]).sin().sum()}, {a})[0];
  EXPECT_TRUE(torch::equal(sum.flat().narrow(0, 0, 100), expected));
  const auto begin = weights.views()[1].second.storage_offset();
  EXPECT_TRUE(sum.flat().narrow(0, begin, 10).eq(0).all().item<bool>());
}

// Parts that are handed on, with their numbers at that time.
struct HandedOn {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  torch::Tensor numbers;
};

TEST_F(GradientSumTest, HandsOnCompletePartsFromTheEndToTheBeginning) {
  const auto large = torch::randn({3'000'000}).requires_grad_();
  const auto small = torch::randn({5}).requires_grad_();
  const auto other = torch::randn({2'000'000}).requires_grad_();
  const auto weights = ParameterBuffer::adopt({{"x", large}, {"y", small}, {"z", other}});
  GradientSum sum(weights);
  HandedOn handed;
  handed.numbers = torch::full_like(sum.flat(), 7);
  constexpr std::size_t threads = 3;
  ThreadPool pool(threads);
  sum.begin(2 * threads, [&](std::int64_t begin, std::int64_t end) {
    handed.ranges.emplace_back(begin, end);
    handed.numbers.narrow(0, begin, end - begin).copy_(sum.flat().narrow(0, begin, end - begin));
  });
  pool.run([&](std::size_t w) {
    sum.add(w, (large * other[0].detach()).sum() + other.sum());  // `small` has no gradient
    if (w == 1) {
      sum.skip(threads + w);
    } else {
      sum.add(threads + w, other.sum());
    }
  });
  sum.finish();
  ASSERT_EQ(handed.ranges.size(), 2);  // z; y with x, because y is small
  EXPECT_EQ(handed.ranges[0].second, sum.flat().numel());
  EXPECT_EQ(handed.ranges[0].first, weights.views()[2].second.storage_offset());
  EXPECT_EQ(handed.ranges[1].second, handed.ranges[0].first);
  EXPECT_EQ(handed.ranges[1].first, 0);
  EXPECT_TRUE(torch::equal(handed.numbers, sum.flat()));
  EXPECT_TRUE(sum.flat().narrow(0, handed.ranges[0].first, 10).eq(5).all().item<bool>());
}

TEST_F(GradientSumTest, HandsOnAllPartsAfterAnError) {
  std::int64_t numbers = 0;
  sum_.begin(2, [&](std::int64_t begin, std::int64_t end) { numbers += end - begin; });
  sum_.add(0, objective(0));
  sum_.fail(std::make_exception_ptr(std::runtime_error("no memory")));
  EXPECT_THROW(sum_.finish(), std::runtime_error);
  EXPECT_EQ(numbers, sum_.flat().numel());
}

TEST_F(GradientSumTest, HasTheBytesOfTheTermsAddedInTheirOrderWhicheverThreadIsFaster) {
  constexpr std::size_t n = 6;
  const auto expected = expected_of_a(2 * n);
  ThreadPool pool(n);
  for (int round = 0; round < 20; ++round) {
    sum_.begin();
    pool.run([&](std::size_t w) {
      // The first terms come last, so that more waits than may wait.
      std::this_thread::sleep_for(std::chrono::microseconds(300 * (n - w)));
      for (const std::size_t term : {w, n + w}) sum_.add(term, objective(term));
    });
    sum_.finish();
    ASSERT_TRUE(torch::equal(part(0), expected));
    EXPECT_TRUE(torch::allclose(part(1), b_.detach() * 2 * (1 + 3 + 5 + 7 + 9 + 11)));
    EXPECT_TRUE(part(2).eq(0).all().item<bool>());
  }
}

TEST_F(GradientSumTest, SkippedTermsAreZeros) {
  sum_.begin();
  sum_.skip(0);
  sum_.add(1, objective(1));
  sum_.skip(2);
  sum_.finish();
  EXPECT_TRUE(torch::equal(part(0), torch::autograd::grad({objective(1)}, {a_})[0]));
  EXPECT_TRUE(part(1).eq(0).all().item<bool>());
}

TEST_F(GradientSumTest, AThreadThatFailsEndsTheOthersAndItsErrorIsThrown) {
  ThreadPool pool(4);
  std::atomic<int> ended = 0;
  sum_.begin();
  pool.run([&](std::size_t w) {
    try {
      if (w == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        throw std::invalid_argument("the first");
      }
      for (std::size_t b = 0; b < 4; ++b) sum_.add(4 * b + w, objective(w));
    } catch (...) {
      sum_.fail(std::current_exception());
    }
    ++ended;
  });
  EXPECT_EQ(ended, 4);
  EXPECT_THROW(sum_.finish(), std::invalid_argument);
  sum_.begin();  // and it can begin anew
  sum_.add(0, objective(0));
  sum_.finish();
  EXPECT_TRUE(torch::equal(part(0), torch::autograd::grad({objective(0)}, {a_})[0]));
}

TEST_F(GradientSumTest, GradientsThatAreAskedForElsewhereStayAsTheyAre) {
  EXPECT_FALSE(torch::autograd::grad({objective(0)}, {a_})[0].eq(0).all().item<bool>());
}

}  // namespace
}  // namespace regard::gradient_sum_test
