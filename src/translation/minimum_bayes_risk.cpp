#include "translation/minimum_bayes_risk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "metrics/pairwise_scores.h"

namespace regard {
namespace {

// Returns P̂ of each hypothesis.
std::vector<double> candidate_weights(const std::vector<Hypothesis>& hypotheses, bool are_samples) {
  const auto N = hypotheses.size();
  if (are_samples) return std::vector<double>(N, 1 / static_cast<double>(N));
  auto best = -std::numeric_limits<double>::infinity();
  for (const auto& hypothesis : hypotheses) best = std::max(best, hypothesis.score);
  std::vector<double> weights;
  for (const auto& hypothesis : hypotheses) weights.push_back(std::exp(hypothesis.score - best));
  const auto sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (auto& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

std::vector<double> expected_utilities(const std::vector<std::string>& texts,
                                       std::span<const double> weights, MbrMetric metric) {
  const auto N = texts.size();
  const auto scores = metric == MbrMetric::bleu ? pairwise_bleu(texts) : pairwise_chrf(texts);
  std::vector<double> utilities(N, 0);
  for (std::size_t h = 0; h < N; ++h) {
    for (std::size_t r = 0; r < N; ++r) utilities[h] += weights[r] * scores[h * N + r];
  }
  return utilities;
}

void rank_by_expected_utility(std::vector<Hypothesis>& hypotheses,
                              const std::vector<std::string>& texts, const SearchOptions& options) {
  if (hypotheses.empty()) return;
  const auto tree = hypotheses[0].tree;
  hypotheses[0].tree = nullptr;
  const auto all_weights = candidate_weights(hypotheses, options.samples > 0);
  std::vector<Hypothesis> distinct;
  std::vector<std::string> distinct_texts;
  std::vector<double> weights;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto [place, is_new] = places.try_emplace(texts[i], distinct.size());
    if (is_new) {
      distinct.push_back(std::move(hypotheses[i]));
      distinct_texts.push_back(texts[i]);
      weights.push_back(0);
    }
    weights[place->second] += all_weights[i];
  }
  const auto utilities = expected_utilities(distinct_texts, weights, options.mbr);
  for (std::size_t i = 0; i < distinct.size(); ++i) distinct[i].expected_utility = utilities[i];
  std::ranges::stable_sort(distinct, [](const Hypothesis& a, const Hypothesis& b) {
    return *a.expected_utility > *b.expected_utility;
  });
  distinct[0].tree = tree;
  hypotheses = std::move(distinct);
}

}  // namespace regard
