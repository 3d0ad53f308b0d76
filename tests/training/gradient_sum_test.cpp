#include "training/gradient_sum.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace regard {
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
}  // namespace regard
