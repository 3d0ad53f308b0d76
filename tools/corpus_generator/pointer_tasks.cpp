#include "pointer_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace regard::corpus {
namespace {

// Returns twice the signed area of the triangle, positive if it is counter-clockwise.
double signed_area(const Point& a, const Point& b, const Point& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

bool is_collinear(const std::vector<Point>& points, const Point& next) {
  constexpr double epsilon = 1e-9;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].x == next.x && points[i].y == next.y) return true;
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(signed_area(points[i], points[j], next)) < epsilon) return true;
    }
  }
  return false;
}

Positions all_positions(std::size_t n) {
  Positions all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

template <typename Item, typename Text>
std::string join(const std::vector<Item>& items, const Text& text) {
  std::string all;
  for (const auto& item : items) all += (all.empty() ? "" : " ") + text(item);
  return all;
}

}  // namespace

std::vector<double> random_numbers(std::size_t n, Random& random) {
  auto hundredths = all_positions(100);
  random.shuffle(hundredths);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < n; ++i)
    numbers.push_back(static_cast<double>(hundredths.at(i)) / 100);
  return numbers;
}

Positions sorted_order(const std::vector<double>& numbers) {
  auto order = all_positions(numbers.size());
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return numbers[a] < numbers[b]; });
  return order;
}

std::vector<Point> random_points(std::size_t n, Random& random) {
  const auto coordinate = [&] { return static_cast<double>(random.below(1000)) / 1000; };
  std::vector<Point> points;
  while (points.size() < n) {
    const double x = coordinate();
    const Point next{x, coordinate()};
    if (!is_collinear(points, next)) points.push_back(next);
  }
  return points;
}

// Gift wrapping: all points are to the left of the line from a corner to the next.
Positions convex_hull(const std::vector<Point>& points) {
  const auto n = points.size();
  const auto next_corner = [&](std::size_t from) {
    std::size_t next = from == 0 ? 1 : 0;
    for (std::size_t p = 0; p < n; ++p) {
      if (p != from && signed_area(points[from], points[next], points[p]) < 0) next = p;
    }
    return next;
  };
  const auto lowest =
      static_cast<std::size_t>(std::min_element(points.begin(), points.end(),
                                                [](const Point& a, const Point& b) {
                                                  return a.y < b.y || (a.y == b.y && a.x < b.x);
                                                }) -
                               points.begin());
  Positions corners;
  for (auto at = lowest; corners.empty() || at != lowest; at = next_corner(at))
    corners.push_back(at);
  std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()), corners.end());
  return corners;
}

std::string line(const std::vector<double>& numbers) {
  return join(numbers, [](double number) { return fmt::format("{:.2f}", number); });
}

std::string line(const std::vector<Point>& points) {
  return join(points, [](const Point& p) { return fmt::format("{:.3f},{:.3f}", p.x, p.y); });
}

std::string line(const Positions& positions) {
  return join(positions, [](std::size_t p) { return fmt::format("{}", p); });
}

}  // namespace regard::corpus
