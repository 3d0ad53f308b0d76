#include "translation/minimum_bayes_risk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace regard::translation_minimum_bayes_risk_test {
namespace {

const std::vector<std::string> texts = {"un oiseau", "le chat voit le chien .", "le chat voit .",
                                        "le chat voit un chien ."};

std::vector<Hypothesis> hypotheses_with(const std::vector<double>& scores) {
  std::vector<Hypothesis> hypotheses;
  for (const auto score : scores) {
    hypotheses.emplace_back();
    hypotheses.back().score = score;
    hypotheses.back().tokens = {static_cast<std::int32_t>(hypotheses.size())};
  }
  return hypotheses;
}

TEST(MinimumBayesRisk, UtilitiesEqualADirectComputation) {
  const std::vector<double> weights = {0.4, 0.3, 0.2, 0.1};
  const auto chrf = expected_utilities(texts, weights, MbrMetric::chrf);
  const auto bleu = expected_utilities(texts, weights, MbrMetric::bleu);
  const Bleu effective_bleu({.effective_order = true});
  for (std::size_t h = 0; h < texts.size(); ++h) {
    double expected_chrf = 0;
    double expected_bleu = 0;
    for (std::size_t r = 0; r < texts.size(); ++r) {
      expected_chrf += weights[r] * corpus_score(Chrf(), {texts[h]}, {{texts[r]}});
      expected_bleu += weights[r] * corpus_score(effective_bleu, {texts[h]}, {{texts[r]}});
    }
    EXPECT_DOUBLE_EQ(chrf[h], expected_chrf);
    EXPECT_DOUBLE_EQ(bleu[h], expected_bleu);
  }
}

// The first text has the highest score, but none of the others is like it. The second shares most
// n-grams with the others.
TEST(MinimumBayesRisk, ChoosesTheTextThatTheOthersAgreeWith) {
  const std::vector<std::string> candidates = {"un oiseau", "le chat voit le chien .",
                                               "le chat entend le chien .",
                                               "le chat voit le chien ici ."};
  for (const auto metric : {MbrMetric::chrf, MbrMetric::bleu}) {
    SearchOptions options;
    options.mbr = metric;
    auto hypotheses = hypotheses_with({-1.0, -1.2, -1.3, -1.4});
    rank_by_expected_utility(hypotheses, candidates, options);
    ASSERT_EQ(hypotheses.size(), 4U);
    EXPECT_EQ(hypotheses[0].tokens[0], 2);
    EXPECT_EQ(hypotheses[3].tokens[0], 1);
    for (std::size_t k = 1; k < 4; ++k) {
      EXPECT_GE(*hypotheses[k - 1].expected_utility, *hypotheses[k].expected_utility);
    }
  }
}

TEST(MinimumBayesRisk, ABeamIsWeightedByItsScores) {
  SearchOptions options;
  options.mbr = MbrMetric::chrf;
  auto hypotheses = hypotheses_with({-1, -2, -3, -4});
  rank_by_expected_utility(hypotheses, texts, options);
  std::vector<double> weights;
  double sum = 0;
  for (const double score : {-1, -2, -3, -4}) weights.push_back(std::exp(score));
  for (const auto weight : weights) sum += weight;
  for (auto& weight : weights) weight /= sum;
  const auto expected = expected_utilities(texts, weights, MbrMetric::chrf);
  for (const auto& hypothesis : hypotheses) {
    EXPECT_NEAR(*hypothesis.expected_utility,
                expected[static_cast<std::size_t>(hypothesis.tokens[0]) - 1], 1e-12);
  }
}

TEST(MinimumBayesRisk, ASampleDrawnTwiceCountsTwiceAndIsListedOnce) {
  SearchOptions options;
  options.mbr = MbrMetric::bleu;
  options.samples = 5;
  const std::vector<std::string> drawn = {texts[3], texts[0], texts[0], texts[1], texts[0]};
  auto hypotheses = hypotheses_with({-9, -1, -5, -1, -5});  // scores do not matter
  rank_by_expected_utility(hypotheses, drawn, options);
  ASSERT_EQ(hypotheses.size(), 3U);
  EXPECT_EQ(hypotheses[0].tokens[0], 2) << "the first of the three equal ones";
  const auto expected = expected_utilities({texts[3], texts[0], texts[1]},
                                           std::vector<double>{0.2, 0.6, 0.2}, MbrMetric::bleu);
  EXPECT_NEAR(*hypotheses[0].expected_utility, expected[1], 1e-12);
}

TEST(MinimumBayesRisk, EqualUtilitiesKeepTheirOrder) {
  SearchOptions options;
  options.mbr = MbrMetric::chrf;
  options.samples = 3;
  auto hypotheses = hypotheses_with({0, 0, 0});
  rank_by_expected_utility(hypotheses, {"abc", "xyz", "uvw"}, options);
  for (std::int32_t k = 0; k < 3; ++k) {
    EXPECT_EQ(hypotheses[static_cast<std::size_t>(k)].tokens[0], k + 1);
  }
}

TEST(MinimumBayesRisk, TheTreeOfTheSearchStaysWithTheBest) {
  SearchOptions options;
  options.mbr = MbrMetric::chrf;
  auto hypotheses = hypotheses_with({-1.0, -1.2, -1.3, -1.4});
  hypotheses[0].tree = std::make_shared<SearchTree>();
  rank_by_expected_utility(hypotheses, texts, options);
  EXPECT_NE(hypotheses[0].tree, nullptr);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_EQ(hypotheses[k].tree, nullptr);
}

}  // namespace
}  // namespace regard::translation_minimum_bayes_risk_test
