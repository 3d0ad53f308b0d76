// Tasks whose answer is a list of positions of their source, for pointer networks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/random.h"

namespace regard::corpus {

struct Point {
  double x, y;
};

// Positions count from 0.
using Positions = std::vector<std::size_t>;

// n different numbers from 0 to 0.99, in steps of a hundredth; n at most 100.
std::vector<double> random_numbers(std::size_t n, Random& random);
// The positions of the numbers, the least first.
Positions rising_order(const std::vector<double>& numbers);

// n points, uniform in the unit square, in steps of 1/1000, no three of them in a line.
std::vector<Point> random_points(std::size_t n, Random& random);
// The corners of the smallest convex polygon around all points, counter-clockwise, from the corner
// that comes first among the points (Vinyals, Fortunato, Jaitly 2015).
Positions convex_hull(const std::vector<Point>& points);

// One word a number or a point, commas inside: "0.37 0.02", "0.125,0.950 0.300,0.041".
std::string line(const std::vector<double>& numbers);
std::string line(const std::vector<Point>& points);
std::string line(const Positions& positions);

}  // namespace regard::corpus
