#include "metrics/error_rate_training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace regard {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest_gain = 1e-9;  // of the metric, from 0 to 100
constexpr int max_steps = 100;          // from one starting point

// The total of a candidate on the line: intercept + γ slope.
struct ScoreLine {
  double slope;
  double intercept;
  std::size_t candidate;
};

// From `begin` on, `candidate` has the highest total.
struct Segment {
  double begin;
  std::size_t candidate;
};

// Returns the upper envelope of the lines of a sentence, from left to right. `lines` is sorted.
std::vector<Segment> upper_envelope(std::vector<ScoreLine>& lines) {
  std::ranges::sort(lines, [](const ScoreLine& a, const ScoreLine& b) {
    if (a.slope != b.slope) return a.slope < b.slope;
    if (a.intercept != b.intercept) return a.intercept > b.intercept;
    return a.candidate < b.candidate;
  });
  std::vector<ScoreLine> highest;
  std::vector<Segment> segments;
  for (const auto& line : lines) {
    if (!highest.empty() && line.slope == highest.back().slope) continue;  // parallel and lower
    auto begin = -infinity;
    while (!highest.empty()) {
      const auto& last = highest.back();
      begin = (last.intercept - line.intercept) / (line.slope - last.slope);
      if (begin > segments.back().begin) break;
      highest.pop_back();
      segments.pop_back();
      begin = -infinity;
    }
    highest.push_back(line);
    segments.push_back({begin, line.candidate});
  }
  return segments;
}

// At `place`, a sentence changes from one candidate to another.
struct Corner {
  double place;
  std::size_t from;
  std::size_t to;
};

// The corners of all sentences, sorted, and the counts left of the first one.
struct Corners {
  std::vector<Corner> all;
  std::vector<double> sums;
};

void add_scaled(std::vector<double>& sums, std::span<const double> counts, double factor) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += factor * counts[i];
}

Corners find_corners(const CandidateTable& table, std::span<const double> weights,
                     std::span<const double> direction) {
  Corners corners;
  corners.sums.resize(table.counts.width, 0);
  std::vector<ScoreLine> lines;
  for (std::size_t i = 0; i < table.sentences(); ++i) {
    lines.clear();
    for (auto c = table.first[i]; c < table.first[i + 1]; ++c) {
      lines.push_back(
          {weighted_sum(direction, table.value(c)), weighted_sum(weights, table.value(c)), c});
    }
    const auto segments = upper_envelope(lines);
    add_scaled(corners.sums, table.counts.sentence(segments[0].candidate), 1);
    for (std::size_t k = 1; k < segments.size(); ++k) {
      corners.all.push_back({segments[k].begin, segments[k - 1].candidate, segments[k].candidate});
    }
  }
  std::ranges::stable_sort(corners.all, {}, &Corner::place);
  return corners;
}

double middle(double begin, double end) {
  if (std::isinf(begin) && std::isinf(end)) return 0;
  if (std::isinf(begin)) return end - 1;
  return std::isinf(end) ? begin + 1 : begin + (end - begin) / 2;
}

// Returns the standard deviation of each feature within sentences; 1 for a constant feature.
std::vector<double> deviations(const CandidateTable& table) {
  std::vector<double> squares(table.features, 0);
  for (std::size_t i = 0; i < table.sentences(); ++i) {
    const auto count = static_cast<double>(table.first[i + 1] - table.first[i]);
    for (std::size_t f = 0; f < table.features; ++f) {
      double mean = 0;
      for (auto c = table.first[i]; c < table.first[i + 1]; ++c) mean += table.value(c)[f] / count;
      for (auto c = table.first[i]; c < table.first[i + 1]; ++c) {
        squares[f] += (table.value(c)[f] - mean) * (table.value(c)[f] - mean);
      }
    }
  }
  const auto candidates = static_cast<double>(std::max<std::size_t>(1, table.candidates()));
  for (auto& square : squares) square = square > 0 ? std::sqrt(square / candidates) : 1;
  return squares;
}

std::vector<double> random_point(const std::vector<double>& scales, Random& random) {
  std::vector<double> point;
  for (const auto scale : scales) point.push_back((2 * random.uniform() - 1) / scale);
  return point;
}

// Scales the weights to Σ |λ_f| = 1.
void normalise(std::vector<double>& weights) {
  double sum = 0;
  for (const auto weight : weights) sum += std::abs(weight);
  if (sum == 0) return;
  for (auto& weight : weights) weight /= sum;
}

struct Point {
  std::vector<double> weights;
  double score = 0;
};

// Returns the optimum of a line as a point, whose metric is computed anew.
Point optimum_on(const CandidateTable& table, const Point& from,
                 const std::vector<double>& direction) {
  Point point = from;
  const auto best = search_line(table, from.weights, direction);
  if (best.step == 0) return point;
  for (std::size_t f = 0; f < direction.size(); ++f) point.weights[f] += best.step * direction[f];
  normalise(point.weights);
  point.score = score_of(table, point.weights);
  return point;
}

Point climb(const CandidateTable& table, std::vector<double> weights,
            const std::vector<double>& scales, Random& random) {
  Point point{weights, score_of(table, weights)};
  for (int step = 0; step < max_steps; ++step) {
    auto best = point;
    const auto consider = [&](const std::vector<double>& direction) {
      auto other = optimum_on(table, point, direction);
      if (other.score > best.score) best = std::move(other);
    };
    for (std::size_t f = 0; f < table.features; ++f) {
      std::vector<double> axis(table.features, 0);
      axis[f] = 1 / scales[f];
      consider(axis);
      consider(random_point(scales, random));
    }
    if (best.score < point.score + smallest_gain) break;
    point = std::move(best);
  }
  return point;
}

}  // namespace

double weighted_sum(std::span<const double> weights, std::span<const double> values) {
  return std::inner_product(weights.begin(), weights.end(), values.begin(), 0.0);
}

std::vector<std::size_t> best_candidates(const CandidateTable& table,
                                         std::span<const double> weights) {
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < table.sentences(); ++i) {
    auto chosen = table.first[i];
    auto highest = -infinity;
    for (auto c = table.first[i]; c < table.first[i + 1]; ++c) {
      const auto total = weighted_sum(weights, table.value(c));
      if (total <= highest) continue;
      highest = total;
      chosen = c;
    }
    best.push_back(chosen);
  }
  return best;
}

double score_of(const CandidateTable& table, std::span<const double> weights) {
  std::vector<double> sums(table.counts.width, 0);
  for (const auto candidate : best_candidates(table, weights)) {
    add_scaled(sums, table.counts.sentence(candidate), 1);
  }
  return table.metric->score(sums);
}

LineOptimum search_line(const CandidateTable& table, std::span<const double> weights,
                        std::span<const double> direction) {
  auto [corners, sums] = find_corners(table, weights, direction);
  LineOptimum best{0, score_of(table, weights)};
  auto begin = -infinity;
  for (std::size_t k = 0; k <= corners.size();) {
    const auto end = k < corners.size() ? corners[k].place : infinity;
    const auto width = 1e-9 * (1 + (std::isinf(begin) ? 0 : std::abs(begin)));
    if (end - begin > width) {
      const auto score = table.metric->score(sums);
      if (score > best.score) best = {middle(begin, end), score};
    }
    if (k == corners.size()) break;
    for (; k < corners.size() && corners[k].place == end; ++k) {
      add_scaled(sums, table.counts.sentence(corners[k].from), -1);
      add_scaled(sums, table.counts.sentence(corners[k].to), 1);
    }
    begin = end;
  }
  return best;
}

TunedWeights tune_weights(const CandidateTable& table, std::vector<double> initial,
                          const TuningOptions& options, ThreadPool& pool) {
  const auto scales = deviations(table);
  normalise(initial);  // so that equal totals are the same ones in both scores
  std::vector<Point> found(options.restarts + 1);
  parallel_for(pool, found.size(), [&](std::size_t start) {
    Random random(options.seed, start);
    auto from = initial;
    if (start > 0) {
      from = random_point(scales, random);
      normalise(from);
    }
    found[start] = climb(table, std::move(from), scales, random);
  });
  const auto best = std::ranges::max_element(found, {}, &Point::score);  // the first of equal ones
  return {best->weights, score_of(table, initial), best->score};
}

}  // namespace regard
