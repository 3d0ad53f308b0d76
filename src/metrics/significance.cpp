#include "metrics/significance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/random.h"

namespace regard {

namespace {

void add_sentence(std::vector<double>& sums, std::span<const double> sentence) {
  std::ranges::transform(sums, sentence, sums.begin(), std::plus<>());
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double difference_p_value(const std::vector<double>& differences, double observed) {
  if (observed == 0) return 1;
  const auto larger = std::ranges::count_if(differences, [&](double d) { return d > observed; });
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
    for (std::size_t i = 0; i < sentences; ++i)
      add_sentence(sums, counts.sentence(random.below(sentences)));
    score = metric.score(sums);
  }
  return scores;
}

ConfidenceInterval confidence_interval(std::vector<double> scores) {
  std::ranges::sort(scores);
  const auto tail = scores.size() / 40;  // 2.5 %
  return {mean_of(scores), 0.5 * (scores[scores.size() - 1 - tail] - scores[tail])};
}

double paired_bootstrap(const std::vector<double>& baseline_scores,
                        const std::vector<double>& system_scores, double difference) {
  std::vector<double> differences(baseline_scores.size());
  for (std::size_t i = 0; i < differences.size(); ++i) {
    differences[i] = std::abs(system_scores[i] - baseline_scores[i]);
  }
  const double mean = mean_of(differences);
  for (auto& d : differences) d -= mean;
  return difference_p_value(differences, difference);
}

double approximate_randomisation(const CorpusMetric& metric, const SentenceCounts& baseline,
                                 const SentenceCounts& system, const Resampling& resampling) {
  Random random(resampling.seed);
  const auto baseline_sum = baseline.sum();
  const auto system_sum = system.sum();
  // Counts of the system minus those of the baseline. Swapping a sentence adds its difference to
  // the baseline's sums and subtracts it from the system's.
  auto delta = system;
  for (std::size_t k = 0; k < delta.values.size(); ++k) delta.values[k] -= baseline.values[k];
  std::vector<double> differences(resampling.trials);
  for (auto& difference : differences) {
    std::vector<double> total(delta.width);
    std::uint64_t random_bits = 0;
    for (std::size_t i = 0; i < delta.sentences(); ++i, random_bits >>= 1) {
      if (i % 64 == 0) random_bits = random.next();
      if ((random_bits & 1) != 0) add_sentence(total, delta.sentence(i));
    }
    auto swapped_baseline = baseline_sum;
    auto swapped_system = system_sum;
    for (std::size_t k = 0; k < total.size(); ++k) {
      swapped_baseline[k] += total[k];
      swapped_system[k] -= total[k];
    }
    difference = std::abs(metric.score(swapped_baseline) - metric.score(swapped_system));
  }
  return difference_p_value(differences,
                            std::abs(metric.score(baseline_sum) - metric.score(system_sum)));
}

}  // namespace regard
