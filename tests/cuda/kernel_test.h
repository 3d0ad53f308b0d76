// Runs kernels of src/cuda/ on the CPU, their threads in random orders.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/cuda/run_on_cpu.h"

namespace regard {

using Floats = std::vector<float>;

inline const std::vector<std::int64_t> widths = {1, 3, 31, 33, 256, 1000};
inline const std::vector<std::int64_t> row_counts = {1, 2, 37};

class KernelTest : public testing::Test {
 protected:
  Floats random(std::int64_t n, float scale = 1) {
    std::normal_distribution<float> normal(0, scale);
    Floats numbers(static_cast<std::size_t>(n));
    for (auto& x : numbers) x = normal(generator_);
    return numbers;
  }

  // Runs a kernel with its threads in three orders, and expects the same bits in its `results`.
  template <typename Kernel>
  void run(std::int64_t blocks, const Kernel& kernel, const std::vector<Floats*>& results) {
    std::vector<int> order(Kernel::threads);
    std::iota(order.begin(), order.end(), 0);
    const auto inputs = copies(results);
    std::vector<Floats> first;
    for (int run = 0; run < 3; ++run) {
      for (std::size_t i = 0; i < results.size(); ++i)
        std::copy(inputs[i].begin(), inputs[i].end(), results[i]->begin());
      std::shuffle(order.begin(), order.end(), generator_);
      cuda::run_on_cpu(blocks, kernel, order);
      if (run == 0) first = copies(results);
      for (std::size_t i = 0; i < results.size(); ++i) {
        const auto bytes = first[i].size() * sizeof(float);
        EXPECT_EQ(std::memcmp(first[i].data(), results[i]->data(), bytes), 0) << "result " << i;
      }
    }
  }

  // Calls f(n, D) for all shapes.
  template <typename F>
  static void for_each_shape(const F& f) {
    for (const auto n : row_counts) {
      for (const auto D : widths) {
        SCOPED_TRACE(std::to_string(n) + " rows of " + std::to_string(D));
        f(n, D);
      }
    }
  }

  static std::vector<Floats> copies(const std::vector<Floats*>& all) {
    std::vector<Floats> result;
    for (const auto* one : all) result.push_back(*one);
    return result;
  }

  std::mt19937 generator_{7};
};

// Differences are relative to numbers above 1, and to the number of terms of a sum.
template <typename A, typename B>
void expect_near(const std::vector<A>& found, const std::vector<B>& wanted,
                 std::int64_t terms = 1) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double scale = std::max(1.0, std::abs(static_cast<double>(wanted[i])));
    ASSERT_NEAR(found[i], wanted[i], 1e-6 * static_cast<double>(terms) * scale) << i;
  }
}

inline Floats empty(std::int64_t n) {
  return Floats(static_cast<std::size_t>(n), std::nanf(""));
}

}  // namespace regard
