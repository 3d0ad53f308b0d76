#include "text/common_stretches.h"

#include <gmock/gmock.h>

namespace regard::common_stretches_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Tokens = std::vector<std::int32_t>;

TEST(CommonStretches, AreTheLongestOnesFirstWithEachTokenInOne) {
  const Tokens source = {1, 2, 3, 4, 9, 5, 6, 7};
  const Tokens target = {5, 6, 7, 8, 1, 2, 3, 4, 5};
  EXPECT_THAT(common_stretches(source, target, 3),
              ElementsAre(CommonStretch{4, {0}, {4}}, CommonStretch{3, {5}, {0}}));
  EXPECT_THAT(common_stretches(source, target, 4), ElementsAre(CommonStretch{4, {0}, {4}}));
  EXPECT_THAT(common_stretches(source, target, 5), IsEmpty());
  // Of 3 4 5, which overlaps with 1 2 3, nothing is left.
  EXPECT_THAT(common_stretches(Tokens{1, 2, 3, 4, 5}, Tokens{1, 2, 3, 0, 3, 4, 5}, 3),
              ElementsAre(CommonStretch{3, {0}, {0}}));
}

TEST(CommonStretches, HaveAllTheirPlacesOnBothSides) {
  EXPECT_THAT(common_stretches(Tokens{1, 2, 0}, Tokens{1, 2, 3, 1, 2}, 2),
              ElementsAre(CommonStretch{2, {0}, {0, 3}}));
  EXPECT_THAT(common_stretches(Tokens{1, 2, 0, 1, 2}, Tokens{1, 2, 3}, 2),
              ElementsAre(CommonStretch{2, {0, 3}, {0}}));
  // Of three equal tokens, two are one stretch.
  EXPECT_THAT(common_stretches(Tokens{1, 1, 1}, Tokens{1, 1}, 2),
              ElementsAre(CommonStretch{2, {0}, {0}}));
}

TEST(CommonStretches, HaveNoNegativeToken) {
  EXPECT_THAT(common_stretches(Tokens{-1, 1, 2, -1}, Tokens{-1, 1, 2, -1}, 2),
              ElementsAre(CommonStretch{2, {1}, {1}}));
  EXPECT_THAT(common_stretches(Tokens{}, Tokens{1}, 1), IsEmpty());
}

}  // namespace
}  // namespace regard::common_stretches_test
