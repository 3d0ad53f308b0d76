#include "text/common_substrings.h"

#include <gmock/gmock.h>

namespace regard::common_substrings_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Tokens = std::vector<std::int32_t>;

TEST(CommonSubstrings, AreTheLongestOnesFirst) {
  const Tokens source = {1, 2, 3, 4, 9, 5, 6, 7};
  const Tokens target = {5, 6, 7, 8, 1, 2, 3, 4, 5};
  EXPECT_THAT(common_substrings(source, target, 3),
              ElementsAre(CommonSubstring{4, {0}, {4}}, CommonSubstring{3, {5}, {0}}));
  EXPECT_THAT(common_substrings(source, target, 4), ElementsAre(CommonSubstring{4, {0}, {4}}));
  EXPECT_THAT(common_substrings(source, target, 5), IsEmpty());
}

TEST(CommonSubstrings, DoNotOverlap) {
  // 3 4 5 overlaps with 1 2 3.
  EXPECT_THAT(common_substrings(Tokens{1, 2, 3, 4, 5}, Tokens{1, 2, 3, 0, 3, 4, 5}, 3),
              ElementsAre(CommonSubstring{3, {0}, {0}}));
  EXPECT_THAT(common_substrings(Tokens{1, 1, 1}, Tokens{1, 1}, 2),
              ElementsAre(CommonSubstring{2, {0}, {0}}));
}

TEST(CommonSubstrings, HaveAllTheirPositionsOnBothSides) {
  EXPECT_THAT(common_substrings(Tokens{1, 2, 0}, Tokens{1, 2, 3, 1, 2}, 2),
              ElementsAre(CommonSubstring{2, {0}, {0, 3}}));
  EXPECT_THAT(common_substrings(Tokens{1, 2, 0, 1, 2}, Tokens{1, 2, 3}, 2),
              ElementsAre(CommonSubstring{2, {0, 3}, {0}}));
}

TEST(CommonSubstrings, HaveTheSameTokensAtEachPosition) {
  // 2 1 in the middle of the target is between two positions of 1 2.
  EXPECT_THAT(common_substrings(Tokens{1, 2, 2, 1}, Tokens{1, 2, 1, 2}, 2),
              ElementsAre(CommonSubstring{2, {0}, {0, 2}}));
  const Tokens source = {1, 2, 3, 0, 2, 3, 1, 0};
  EXPECT_THAT(common_substrings(source, Tokens{1, 2, 3, 1, 2, 3}, 3),
              ElementsAre(CommonSubstring{3, {0}, {0, 3}}));
}

TEST(CommonSubstrings, HaveNoNegativeToken) {
  EXPECT_THAT(common_substrings(Tokens{-1, 1, 2, -1}, Tokens{-1, 1, 2, -1}, 2),
              ElementsAre(CommonSubstring{2, {1}, {1}}));
  EXPECT_THAT(common_substrings(Tokens{}, Tokens{1}, 1), IsEmpty());
}

}  // namespace
}  // namespace regard::common_substrings_test
