#include "metrics/symmetrisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace regard {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;

Alignment links(const char* text) {
  return parse_alignment(text, "test", 1);
}

TEST(Symmetrisation, IntersectionAndUnionAreThose) {
  const auto a = links("0-0 1-2 2-1");
  const auto b = links("0-0 1-1 2-1");
  EXPECT_EQ(symmetrise(a, b, Symmetrisation::intersection), links("0-0 2-1"));
  EXPECT_EQ(symmetrise(a, b, Symmetrisation::union_of_both), links("0-0 1-1 1-2 2-1"));
}

TEST(Symmetrisation, GrowsAlongNeighboursDiagonalsToo) {
  // 1-1 lies diagonally beside 0-0, and then 1-2 beside 1-1: target 2 has no link yet.
  EXPECT_EQ(symmetrise(links("0-0 1-1"), links("0-0 1-2"), Symmetrisation::grow_diag_final_and),
            links("0-0 1-1 1-2"));
}

TEST(Symmetrisation, DoesNotGrowWhereBothWordsHaveLinks) {
  EXPECT_EQ(symmetrise(links("0-0 1-1"), links("0-0 0-1 1-1"), Symmetrisation::grow_diag_final_and),
            links("0-0 1-1"));
}

TEST(Symmetrisation, FinalAndAddsLinksOfWhichNeitherWordHasOne) {
  // 3-3 is far from 0-0; of 5-3 and 3-6 one word has a link by then.
  EXPECT_EQ(symmetrise(links("0-0 3-3 3-6"), links("0-0 5-3"), Symmetrisation::grow_diag_final_and),
            links("0-0 3-3"));
}

TEST(Symmetrisation, LiesBetweenIntersectionAndUnionAndLeavesNoPairOfLonelyWords) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::uint32_t> word(0, 5);
  const auto draw = [&] {
    Alignment alignment;
    for (int i = 0; i < 8; ++i) alignment.push_back({word(random), word(random)});
    std::ranges::sort(alignment);
    alignment.erase(std::unique(alignment.begin(), alignment.end()), alignment.end());
    return alignment;
  };
  for (int round = 0; round < 500; ++round) {
    const auto a = draw();
    const auto b = draw();
    const auto all = symmetrise(a, b, Symmetrisation::union_of_both);
    const auto grown = symmetrise(a, b, Symmetrisation::grow_diag_final_and);
    EXPECT_THAT(grown, IsSupersetOf(symmetrise(a, b, Symmetrisation::intersection)));
    EXPECT_THAT(all, IsSupersetOf(grown));
    // What is left out touches a word that has a link.
    for (const auto& link : all) {
      const bool touched = std::ranges::any_of(grown, [&](const auto& there) {
        return there.source == link.source || there.target == link.target;
      });
      EXPECT_TRUE(touched);
    }
    EXPECT_EQ(symmetrise(a, a, Symmetrisation::grow_diag_final_and), a);
  }
}

TEST(Symmetrisation, NothingWithNothingIsNothing) {
  EXPECT_THAT(symmetrise({}, {}, Symmetrisation::grow_diag_final_and), IsEmpty());
}

TEST(Symmetrisation, TransposedExchangesTheSides) {
  EXPECT_EQ(transposed(links("0-3 1-0 2-2")), links("0-1 2-2 3-0"));
}

}  // namespace
}  // namespace regard
