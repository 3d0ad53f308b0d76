#include "metrics/error_rate_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace regard::error_rate_training_test {
namespace {

// Returns a table of random features, whose candidates are the reference with some words replaced.
CandidateTable random_table(const CorpusMetric& metric, std::size_t sentences,
                            std::size_t candidates, std::size_t features, std::uint64_t seed) {
  Random random(seed);
  CandidateTable table;
  table.features = features;
  table.metric = &metric;
  std::vector<std::string> texts;
  References references(1);
  for (std::size_t i = 0; i < sentences; ++i) {
    std::vector<std::string> words;
    for (std::size_t w = 0; w < 8; ++w) words.push_back("w" + std::to_string(random.below(20)));
    std::string reference;
    for (const auto& word : words) reference += word + " ";
    for (std::size_t c = 0; c < candidates; ++c) {
      std::string text;
      for (const auto& word : words) text += (random.below(3) == 0 ? "x" : word) + " ";
      texts.push_back(text);
      references[0].push_back(reference);
      for (std::size_t f = 0; f < features; ++f) table.values.push_back(2 * random.uniform() - 1);
    }
    table.first.push_back(texts.size());
  }
  table.counts = metric.count(texts, references);
  return table;
}

std::vector<double> moved(std::vector<double> weights, const std::vector<double>& direction,
                          double step) {
  for (std::size_t f = 0; f < weights.size(); ++f) weights[f] += step * direction[f];
  return weights;
}

TEST(ErrorRateTraining, TheLineSearchFindsTheOptimumOfAGrid) {
  const Bleu bleu;
  const Chrf chrf;
  for (const CorpusMetric* metric :
       {static_cast<const CorpusMetric*>(&bleu), static_cast<const CorpusMetric*>(&chrf)}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto table = random_table(*metric, 4, 5, 3, seed);
      const std::vector<double> weights = {0.3, -0.2, 0.5};
      const std::vector<double> direction = {0.1, 1, -0.4};
      const auto best = search_line(table, weights, direction);
      double highest = 0;
      for (int step = -40'000; step <= 40'000; ++step) {
        highest = std::max(highest, score_of(table, moved(weights, direction, step * 0.0005)));
      }
      EXPECT_GE(best.score, highest - 1e-9)
          << "the grid may miss a narrow interval, not the search";
      EXPECT_NEAR(best.score, score_of(table, moved(weights, direction, best.step)), 1e-9)
          << "the step has the score that the search promised";
    }
  }
}

// Two sentences with two candidates each. With λ = (1, γ), sentence 0 changes to its good candidate
// at γ > 1, sentence 1 to its bad one at γ > 3: only 1 < γ < 3 chooses both good ones.
TEST(ErrorRateTraining, TheOptimumIsTheMiddleOfItsInterval) {
  const Bleu bleu;
  CandidateTable table;
  table.features = 2;
  table.metric = &bleu;
  table.first = {0, 2, 4};
  table.values = {1, 0, 0, 1, 3, 0, 0, 1};
  const std::string good = "a b c d e";
  const std::string bad = "a b c d x";
  table.counts = bleu.count({bad, good, good, bad}, {{good, good, good, good}});
  const auto best = search_line(table, std::vector<double>{1, 0}, std::vector<double>{0, 1});
  EXPECT_NEAR(best.step, 2, 1e-12);
  EXPECT_NEAR(best.score, 100, 1e-9);
  EXPECT_EQ(best_candidates(table, std::vector<double>{1, 2}), (std::vector<std::size_t>{1, 2}));
}

TEST(ErrorRateTraining, AFlatLineStaysWhereItIs) {
  const Bleu bleu;
  auto table = random_table(bleu, 3, 4, 2, 7);
  for (std::size_t i = 1; i < table.values.size(); i += 2) table.values[i] = 0.5;  // a constant
  const std::vector<double> weights = {1, 0};
  const auto best = search_line(table, weights, std::vector<double>{0, 1});
  EXPECT_EQ(best.step, 0);
  EXPECT_EQ(best.score, score_of(table, weights));
}

TEST(ErrorRateTraining, EqualTotalsChooseTheFirstCandidate) {
  const Bleu bleu;
  auto table = random_table(bleu, 2, 3, 1, 3);
  table.values.assign(table.values.size(), 1);
  EXPECT_EQ(best_candidates(table, std::vector<double>{1}), (std::vector<std::size_t>{0, 3}));
}

TEST(ErrorRateTraining, TuningIsAtLeastAsGoodAsAGridOfAllDirections) {
  const Bleu bleu;
  const auto table = random_table(bleu, 6, 6, 2, 11);
  ThreadPool pool;
  const auto tuned = tune_weights(table, {1, 0}, {.restarts = 20, .seed = 1}, pool);
  double highest = 0;
  for (int angle = 0; angle < 36'000; ++angle) {
    const auto radians = angle * std::acos(-1.0) / 18'000;
    highest = std::max(highest,
                       score_of(table, std::vector<double>{std::cos(radians), std::sin(radians)}));
  }
  EXPECT_GE(tuned.score, highest - 1e-9);
  EXPECT_GT(tuned.score, tuned.initial_score);
  EXPECT_EQ(tuned.initial_score, score_of(table, std::vector<double>{1, 0}));
  EXPECT_EQ(tuned.score, score_of(table, tuned.weights));
  EXPECT_NEAR(std::abs(tuned.weights[0]) + std::abs(tuned.weights[1]), 1, 1e-12);
}

// The search goes on until no line along a feature is better.
TEST(ErrorRateTraining, NoLineAlongAFeatureLeadsFurther) {
  const Bleu bleu;
  ThreadPool pool;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto table = random_table(bleu, 12, 8, 5, seed);
    const auto tuned = tune_weights(table, {1, 0, 0, 0, 0}, {.restarts = 0, .seed = 1}, pool);
    for (std::size_t f = 0; f < 5; ++f) {
      std::vector<double> axis(5, 0);
      axis[f] = 1;
      EXPECT_LT(search_line(table, tuned.weights, axis).score, tuned.score + 1e-6) << seed << f;
    }
  }
}

TEST(ErrorRateTraining, TheSeedAloneDecidesTheWeights) {
  const Bleu bleu;
  const auto table = random_table(bleu, 5, 5, 3, 2);
  ThreadPool one(1);
  ThreadPool three(3);
  const auto weights = tune_weights(table, {1, 0, 0}, {.restarts = 4, .seed = 9}, one).weights;
  EXPECT_EQ(tune_weights(table, {1, 0, 0}, {.restarts = 4, .seed = 9}, three).weights, weights);
}

}  // namespace
}  // namespace regard::error_rate_training_test
