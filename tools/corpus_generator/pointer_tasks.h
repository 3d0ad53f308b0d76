// Tasks for pointer networks, whose targets are positions of the source.
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

// Returns n distinct multiples of 0.01 from 0 to 0.99; n is at most 100.
std::vector<double> random_numbers(std::size_t n, Random& random);
// Returns the positions of the numbers in ascending order of the numbers.
Positions sorted_order(const std::vector<double>& numbers);

// Returns n uniform points in the unit square, with multiples of 0.001 as coordinates, no three of
// them collinear.
std::vector<Point> random_points(std::size_t n, Random& random);
// Returns the corners of the convex hull, counter-clockwise, starting with the corner of the lowest
// position (Vinyals, Fortunato, Jaitly 2015).
Positions convex_hull(const std::vector<Point>& points);

// Return one word per number, point or position: "0.37 0.02", "0.125,0.950 0.300,0.041", "2 0 1".
std::string line(const std::vector<double>& numbers);
std::string line(const std::vector<Point>& points);
std::string line(const Positions& positions);

}  // namespace regard::corpus
