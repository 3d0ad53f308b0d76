#include "decoding/score.h"

#include <algorithm>
#include <cmath>

namespace regard {

double length_penalty(std::int64_t n, const SearchOptions& options) {
  const auto length = static_cast<double>(n);
  const auto base = options.length_penalty == LengthPenalty::gnmt ? (5.0 + length) / 6.0 : length;
  return std::pow(base, options.beam_alpha);
}

double coverage_penalty(const std::vector<std::vector<float>>& weights) {
  constexpr double least = 1e-10;
  if (weights.empty()) return 0;
  std::vector<double> covered(weights[0].size(), 0);
  for (const auto& step : weights) {
    for (std::size_t s = 0; s < covered.size(); ++s) covered[s] += step[s];
  }
  double penalty = 0;
  for (const auto sum : covered) penalty += std::log(std::clamp(sum, least, 1.0));
  return penalty;
}

double score_of(const Hypothesis& hypothesis, const SearchOptions& options) {
  // What was cut off before its first token has the length 1.
  const auto n = static_cast<std::int64_t>(hypothesis.tokens.size()) + hypothesis.finished;
  const auto score =
      hypothesis.log_probability / length_penalty(std::max<std::int64_t>(1, n), options);
  if (options.coverage_beta == 0) return score;
  return score + options.coverage_beta * coverage_penalty(hypothesis.weights);
}

double best_possible_score(double log_probability, std::int64_t longest,
                           const SearchOptions& options) {
  return log_probability / length_penalty(longest, options);
}

}  // namespace regard
