#include "corpus_generator/pointer_tasks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace regard::corpus::pointer_tasks_test {
namespace {

using testing::ElementsAre;

double turn(const Point& a, const Point& b, const Point& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

TEST(PointerTasks, NumbersAreSortedByTheirPositions) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const auto numbers = random_numbers(10, random);
    const auto order = sorted_order(numbers);
    ASSERT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 10U);
    for (std::size_t k = 1; k < 10; ++k) EXPECT_LT(numbers[order[k - 1]], numbers[order[k]]);
  }
}

TEST(PointerTasks, AHullHasAllPointsOnItsLeftAndStartsWithTheFirst) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const auto points = random_points(10, random);
    const auto hull = convex_hull(points);
    ASSERT_GE(hull.size(), 3U);
    EXPECT_EQ(hull[0], *std::min_element(hull.begin(), hull.end()));
    for (std::size_t k = 0; k < hull.size(); ++k) {
      const auto from = hull[k], to = hull[(k + 1) % hull.size()];
      for (std::size_t p = 0; p < points.size(); ++p) {
        if (p != from && p != to) {
          EXPECT_GT(turn(points[from], points[to], points[p]), 0);
        }
      }
    }
  }
}

TEST(PointerTasks, TheHullExcludesAPointInside) {
  EXPECT_THAT(convex_hull({{0.5, 0.4}, {1, 1}, {0, 0}, {0, 1}, {1, 0}}), ElementsAre(1, 3, 2, 4));
}

TEST(PointerTasks, LinesHaveOneWordPerElement) {
  EXPECT_EQ(line(std::vector<double>{0.5, 0.02}), "0.50 0.02");
  EXPECT_EQ(line(std::vector<Point>{{0.125, 0.5}, {0, 1}}), "0.125,0.500 0.000,1.000");
  EXPECT_EQ(line(Positions{3, 0, 12}), "3 0 12");
}

TEST(PointerTasks, TheSameSeedProducesTheSameLines) {
  Random one(3), other(3);
  EXPECT_EQ(line(random_points(10, one)), line(random_points(10, other)));
}

}  // namespace
}  // namespace regard::corpus::pointer_tasks_test
