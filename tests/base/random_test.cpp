#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace regard::random_test {
namespace {

TEST(Random, NumbersDependOnSeedAndStream) {
  Random a(1);
  Random b(1);
  Random c(2);
  Random d(1, 1);
  bool c_differs = false;
  bool d_differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto x = a.next();
    EXPECT_EQ(x, b.next());
    c_differs |= x != c.next();
    d_differs |= x != d.next();
  }
  EXPECT_TRUE(c_differs && d_differs);
}

// The first outputs of the authors' xoshiro256** from the state {1, 2, 3, 4}.
TEST(Random, MatchesThePublishedGenerator) {
  Random random(0);
  random.set_state({1, 2, 3, 4});
  for (const std::uint64_t expected : {11520ULL, 0ULL, 1509978240ULL, 1215971899390074240ULL}) {
    EXPECT_EQ(random.next(), expected);
  }
}

TEST(Random, RestoredStateContinuesTheSequence) {
  Random before(3);
  before.next();
  Random after(0);
  after.set_state(before.state());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(before.next(), after.next());
}

TEST(Random, BelowIsUniform) {
  Random random(4);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Random, UniformIsInTheUnitInterval) {
  Random random(5);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = random.uniform();
    EXPECT_TRUE(x >= 0 && x < 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, ShuffleIsAPermutation) {
  Random random(6);
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  auto shuffled = items;
  random.shuffle(shuffled);
  EXPECT_NE(shuffled, items);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, items);
}

}  // namespace
}  // namespace regard::random_test
