#include "decoding/hypothesis.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "decoding/search.h"
#include "kernels/device.h"

namespace regard {

double length_penalty(std::int64_t n, const SearchRequest& options) {
  const auto length = static_cast<double>(n);
  const auto base = options.length_penalty == LengthPenalty::gnmt ? (5.0 + length) / 6.0 : length;
  return std::pow(base, options.beam_alpha);
}

double coverage_penalty(const std::vector<std::vector<float>>& weights) {
  constexpr double min_coverage = 1e-10;
  if (weights.empty()) return 0;
  std::vector<double> covered(weights[0].size(), 0);
  for (const auto& step : weights) {
    for (std::size_t s = 0; s < covered.size(); ++s) covered[s] += step[s];
  }
  double penalty = 0;
  for (const auto sum : covered) penalty += std::log(std::clamp(sum, min_coverage, 1.0));
  return penalty;
}

double score_hypothesis(const Hypothesis& hypothesis, const SearchRequest& options) {
  // A hypothesis that was cut off before its first token has length 1.
  const auto n = static_cast<std::int64_t>(hypothesis.tokens.size()) + hypothesis.finished;
  const auto score =
      hypothesis.log_probability / length_penalty(std::max<std::int64_t>(1, n), options);
  if (options.coverage_beta == 0) return score;
  return score + options.coverage_beta * coverage_penalty(hypothesis.weights);
}

double best_possible_score(double log_probability, std::int64_t max_length,
                           const SearchRequest& options) {
  return log_probability / length_penalty(max_length, options);
}

void SearchTree::append(const SearchTree& other) {
  const auto offset = static_cast<std::int64_t>(nodes.size());
  for (auto node : other.nodes) {
    if (node.previous >= 0) node.previous += offset;
    nodes.push_back(node);
  }
}

AttentionOnCpu::AttentionOnCpu(const torch::Tensor& weights)
    : weights_(weights.defined() ? from_device(weights).to(torch::kFloat).contiguous() : weights) {}

std::vector<float> AttentionOnCpu::row(std::size_t row, std::int64_t length) const {
  const auto* first =
      weights_.data_ptr<float>() + static_cast<std::int64_t>(row) * weights_.size(1);
  return {first, first + length};
}

}  // namespace regard
