#include "base/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace regard::permutation_test {
namespace {

std::vector<std::uint64_t> elements(const Permutation& permutation) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < permutation.size(); ++i) all.push_back(permutation(i));
  return all;
}

TEST(Permutation, IsABijectionForEverySize) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 0; size <= 70; ++size) sizes.push_back(size);
  for (const std::uint64_t power : {128, 1024, 4096, 65536}) {
    for (const std::uint64_t size : {power - 1, power, power + 1}) sizes.push_back(size);
  }
  sizes.push_back(1000003);
  for (const auto size : sizes) {
    const Permutation permutation(size, Random(7, size));
    std::vector<bool> found(size);
    for (const auto element : elements(permutation)) {
      ASSERT_LT(element, size);
      ASSERT_FALSE(found[element]) << element << " twice of " << size;
      found[element] = true;
    }
  }
}

TEST(Permutation, DependsOnlyOnSizeAndKeys) {
  EXPECT_EQ(elements(Permutation(1000, Random(1, 2))), elements(Permutation(1000, Random(1, 2))));
  EXPECT_NE(elements(Permutation(1000, Random(1, 2))), elements(Permutation(1000, Random(1, 3))));
  EXPECT_NE(elements(Permutation(1000, Random(1, 2))), elements(Permutation(1000, Random(2, 2))));
}

TEST(Permutation, ReachesLargeIndices) {
  const std::uint64_t size = (std::uint64_t{1} << 40) + 12345;
  const Permutation permutation(size, Random(3));
  std::set<std::uint64_t> found;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto element = permutation(size - 1 - i);
    EXPECT_LT(element, size);
    found.insert(element);
  }
  EXPECT_EQ(found.size(), 10000U);
}

// Each of n elements stands at each of n positions equally often. The expected chi-square is
// (n − 1)², with a standard deviation of √2 (n − 1).
TEST(Permutation, EveryElementStandsEverywhereEquallyOften) {
  for (const std::size_t n : {2, 3, 5, 8, 13, 100, 300}) {
    constexpr int keys = 10000;
    std::vector<double> counts(n * n);
    for (std::uint64_t key = 0; key < keys; ++key) {
      const Permutation permutation(n, Random(5, key));
      for (std::size_t i = 0; i < n; ++i) ++counts[i * n + permutation(i)];
    }
    const double expected = static_cast<double>(keys) / static_cast<double>(n);
    double chi_square = 0;
    for (const auto count : counts)
      chi_square += (count - expected) * (count - expected) / expected;
    const double freedom = static_cast<double>((n - 1) * (n - 1));
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom)) << n;
  }
}

// Neighbours stay neighbours as rarely as in a random order: twice in one permutation on average.
TEST(Permutation, SeparatesNeighbours) {
  constexpr std::uint64_t size = 1000;
  int adjacent = 0;
  for (std::uint64_t key = 0; key < 200; ++key) {
    const Permutation permutation(size, Random(9, key));
    for (std::uint64_t i = 0; i + 1 < size; ++i) {
      const auto a = permutation(i);
      const auto b = permutation(i + 1);
      if (a + 1 == b || b + 1 == a) ++adjacent;
    }
  }
  EXPECT_NEAR(adjacent, 400, 100);  // five standard deviations
}

}  // namespace
}  // namespace regard::permutation_test
