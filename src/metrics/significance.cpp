#include "metrics/significance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/random.h"

namespace regard {

namespace {

void add(std::vector<double>& sums, std::span<const double> sentence) {
  std::ranges::transform(sums, sentence, sums.begin(), std::plus<>());
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double p_value(const std::vector<double>& differences, double difference) {
  const auto larger =
      std::ranges::count_if(differences, [&](double found) { return found > difference; });
  return static_cast<double>(larger + 1) / static_cast<double>(differences.size() + 1);
}

}  // namespace

std::vector<double> bootstrap_scores(const CorpusMetric& metric, const SentenceCounts& counts,
                                     const Resampling& resampling) {
  Random random(resampling.seed);
  const auto sentences = counts.sentences();
  std::vector<double> scores(resampling.resamples);
  for (auto& score : scores) {
    std::vector<double> sums(counts.width);
    for (std::size_t i = 0; i < sentences; ++i) add(sums, counts.of(random.below(sentences)));
    score = metric.score(sums);
  }
  return scores;
}

ConfidenceInterval confidence_interval(std::vector<double> scores) {
  std::ranges::sort(scores);
  const auto beyond = scores.size() / 40;
  return {mean_of(scores), 0.5 * (scores[scores.size() - 1 - beyond] - scores[beyond])};
}

double paired_bootstrap(const std::vector<double>& baseline_scores,
                        const std::vector<double>& system_scores, double difference) {
  std::vector<double> differences(baseline_scores.size());
  for (std::size_t i = 0; i < differences.size(); ++i) {
    differences[i] = std::abs(system_scores[i] - baseline_scores[i]);
  }
  const double mean = mean_of(differences);
  for (auto& found : differences) found -= mean;
  return p_value(differences, difference);
}

double approximate_randomisation(const CorpusMetric& metric, const SentenceCounts& baseline,
                                 const SentenceCounts& system, const Resampling& resampling) {
  Random random(resampling.seed);
  const auto baseline_sum = baseline.sum();
  const auto system_sum = system.sum();
  auto swap = system;  // what a swap of the sentence adds to the one and takes from the other
  for (std::size_t k = 0; k < swap.values.size(); ++k) swap.values[k] -= baseline.values[k];
  std::vector<double> differences(resampling.trials);
  for (auto& difference : differences) {
    std::vector<double> swapped(swap.width);
    std::uint64_t coins = 0;
    for (std::size_t i = 0; i < swap.sentences(); ++i, coins >>= 1) {
      if (i % 64 == 0) coins = random.next();
      if ((coins & 1) != 0) add(swapped, swap.of(i));
    }
    auto one = baseline_sum;
    auto other = system_sum;
    for (std::size_t k = 0; k < swapped.size(); ++k) {
      one[k] += swapped[k];
      other[k] -= swapped[k];
    }
    difference = std::abs(metric.score(one) - metric.score(other));
  }
  return p_value(differences, std::abs(metric.score(baseline_sum) - metric.score(system_sum)));
}

}  // namespace regard
