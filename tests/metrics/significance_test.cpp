#include "metrics/significance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>

#include "metrics/metric_factory.h"

namespace regard::significance_test {
namespace {

// The mean of one number per sentence, whose statistics are known.
class Mean final : public CorpusMetric {
 public:
  std::string name() const override { return "mean"; }
  std::string signature(std::size_t) const override { return ""; }
  SentenceCounts count(const std::vector<std::string>&, const References&) const override {
    return {2, {}};
  }
  double score(std::span<const double> sums) const override { return sums[0] / sums[1]; }
  Json to_json(std::span<const double>) const override { return {}; }
};

SentenceCounts counts_of(const std::vector<double>& numbers) {
  SentenceCounts counts{2, {}};
  for (const double number : numbers) counts.values.insert(counts.values.end(), {number, 1});
  return counts;
}

std::vector<double> ramp(std::size_t size, double shift = 0) {
  std::vector<double> numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers[i] = static_cast<double>(i % 10) + shift;
  return numbers;
}

TEST(Significance, TheIntervalOfAMeanIsKnown) {
  const auto scores = bootstrap_scores(Mean(), counts_of(ramp(400)), {.resamples = 4000});
  const auto interval = confidence_interval(scores);
  const double standard_error = std::sqrt(8.25 / 400);  // the variance of 0 to 9 is 8.25
  EXPECT_NEAR(interval.mean, 4.5, 4 * standard_error / std::sqrt(4000));
  EXPECT_NEAR(interval.half_width, 1.96 * standard_error, 0.07 * 1.96 * standard_error);
}

TEST(Significance, TheIntervalExcludesAFortiethOnEachSide) {
  std::vector<double> scores(1000);
  std::iota(scores.rbegin(), scores.rend(), 0.0);
  const auto interval = confidence_interval(scores);
  EXPECT_DOUBLE_EQ(interval.mean, 499.5);
  EXPECT_DOUBLE_EQ(interval.half_width, (974. - 25) / 2);
  EXPECT_EQ(confidence_interval({7}).half_width, 0);
}

TEST(Significance, TheSeedDeterminesTheSample) {
  const auto counts = counts_of(ramp(50));
  const Resampling one{.resamples = 20, .seed = 1};
  EXPECT_EQ(bootstrap_scores(Mean(), counts, one), bootstrap_scores(Mean(), counts, one));
  EXPECT_NE(bootstrap_scores(Mean(), counts, one),
            bootstrap_scores(Mean(), counts, {.resamples = 20, .seed = 2}));
}

// Resamples of the same sentences always differ by the same amount.
TEST(Significance, EqualSeedsPairTheSentences) {
  const auto one = bootstrap_scores(Mean(), counts_of(ramp(50)), {});
  const auto other = bootstrap_scores(Mean(), counts_of(ramp(50, 1)), {});
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(other[i] - one[i], 1, 1e-12);
  EXPECT_DOUBLE_EQ(paired_bootstrap(one, other, 1), 1. / 1001);
}

TEST(Significance, ASystemDoesNotDifferFromItself) {
  const auto counts = counts_of(ramp(50));
  const auto scores = bootstrap_scores(Mean(), counts, {});
  EXPECT_EQ(paired_bootstrap(scores, scores, 0), 1);
  EXPECT_EQ(approximate_randomisation(Mean(), counts, counts, {}), 1);
}

TEST(Significance, EqualScoresOfDifferentSystemsHaveAPValueOfOne) {
  const auto baseline = counts_of({0, 1, 1, 1}), system = counts_of({1, 0, 1, 1});
  EXPECT_EQ(paired_bootstrap(bootstrap_scores(Mean(), baseline, {}),
                             bootstrap_scores(Mean(), system, {}), 0),
            1);
  EXPECT_EQ(approximate_randomisation(Mean(), baseline, system, {}), 1);
}

// If four sentences differ by 1 each, swaps have differences of 0, 1/2 and 1, none above 1. If two
// sentences differ by 2 and −1, the observed sum of differences is 1; half of the swaps have 3.
TEST(Significance, RandomisationCountsTheSwapsThatDifferMore) {
  const Resampling resampling{.trials = 4000};
  EXPECT_DOUBLE_EQ(approximate_randomisation(Mean(), counts_of({0, 0, 0, 0}),
                                             counts_of({1, 1, 1, 1}), resampling),
                   1. / 4001);
  EXPECT_NEAR(approximate_randomisation(Mean(), counts_of({0, 1}), counts_of({2, 0}), resampling),
              0.5, 0.04);
}

TEST(Significance, ManyResamplesOfManyLinesAreFast) {
  SentenceCounts counts{24, std::vector<double>(24 * 1000, 3.0)};
  const auto start = std::chrono::steady_clock::now();
  bootstrap_scores(Chrf({.word_order = 2}), counts, {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", std::to_string(seconds.count()));
  EXPECT_LT(seconds.count(), 5) << "a tenth of a second on an idle core";
}

}  // namespace
}  // namespace regard::significance_test
