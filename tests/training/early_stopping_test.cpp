#include "training/early_stopping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace regard::early_stopping_test {
namespace {

Scores scores_of(double loss, double bleu) {
  return {loss, std::exp(loss), bleu, bleu};
}

EarlyStopping by(Metric metric, std::int64_t patience = 0) {
  TrainingOptions options;
  options.early_stopping_metric = metric;
  options.patience = patience;
  return EarlyStopping(options);
}

TEST(EarlyStopping, HigherIsBetterForBleuAndLowerForLoss) {
  auto by_bleu = by(Metric::bleu);
  EXPECT_TRUE(by_bleu.add_validation(1, scores_of(3, 10)));
  EXPECT_FALSE(by_bleu.add_validation(2, scores_of(2, 9)));
  auto by_loss = by(Metric::loss);
  EXPECT_TRUE(by_loss.add_validation(1, scores_of(3, 10)));
  EXPECT_TRUE(by_loss.add_validation(2, scores_of(2, 9)));
  EXPECT_EQ(by_loss.best_step(), 2);
}

TEST(EarlyStopping, LowerIsBetterForErrorRatesAndHigherForExactMatch) {
  const auto with = [](double Scores::*member, double value) {
    auto scores = scores_of(3, 10);
    scores.*member = value;
    return scores;
  };
  for (const auto& [metric, member] :
       {std::pair{Metric::wer, &Scores::wer}, std::pair{Metric::cer, &Scores::cer}}) {
    auto stopping = by(metric);
    EXPECT_FALSE(stopping.add_validation(1, scores_of(1, 90)));  // of another metric
    EXPECT_TRUE(stopping.add_validation(2, with(member, 20)));
    EXPECT_FALSE(stopping.add_validation(3, with(member, 21)));
    EXPECT_TRUE(stopping.add_validation(4, with(member, 19)));
  }
  auto exact = by(Metric::exact);
  EXPECT_TRUE(exact.add_validation(1, with(&Scores::exact, 70)));
  EXPECT_FALSE(exact.add_validation(2, with(&Scores::exact, 69)));
}

TEST(EarlyStopping, OfEqualFiguresTheLowerLossIsBetter) {
  auto stopping = by(Metric::bleu);
  EXPECT_TRUE(stopping.add_validation(1, scores_of(5.9, 0)));
  EXPECT_TRUE(stopping.add_validation(2, scores_of(5.4, 0)));
  EXPECT_FALSE(stopping.add_validation(3, scores_of(5.6, 0)));
  EXPECT_FALSE(stopping.add_validation(4, scores_of(5.4, 0)));
  EXPECT_EQ(stopping.best_step(), 2);
}

TEST(EarlyStopping, OfEqualFiguresALossThatIsNotANumberIsTheWorst) {
  EXPECT_TRUE(is_better(Metric::bleu, scores_of(9, 5), scores_of(NAN, 5)));
  EXPECT_FALSE(is_better(Metric::bleu, scores_of(NAN, 5), scores_of(9, 5)));
  EXPECT_FALSE(is_better(Metric::bleu, scores_of(NAN, 5), scores_of(NAN, 5)));
  const ScoredSteps validations = {
      {1, scores_of(3, 5)}, {2, scores_of(NAN, 5)}, {3, scores_of(2, 5)}, {4, scores_of(4, 6)}};
  EXPECT_EQ(ranking(Metric::bleu, validations), (std::vector<std::int64_t>{4, 3, 1, 2}));
}

TEST(EarlyStopping, PatienceCountsValidationsSinceTheBest) {
  auto stopping = by(Metric::bleu, 2);
  stopping.add_validation(1, scores_of(1, 10));
  stopping.add_validation(2, scores_of(1, 9));
  EXPECT_FALSE(stopping.out_of_patience());
  stopping.add_validation(3, scores_of(1, 11));
  stopping.add_validation(4, scores_of(1, 11));  // no better
  EXPECT_FALSE(stopping.out_of_patience());
  stopping.add_validation(5, scores_of(1, 10));
  EXPECT_TRUE(stopping.out_of_patience());
}

TEST(EarlyStopping, AFigureThatIsNotFiniteIsNeverTheBest) {
  auto stopping = by(Metric::loss);
  EXPECT_FALSE(stopping.add_validation(1, scores_of(NAN, 0)));
  EXPECT_EQ(stopping.best_step(), std::nullopt);
  EXPECT_TRUE(stopping.add_validation(2, scores_of(5, 0)));
}

TEST(EarlyStopping, AHistoryIsJudgedByTheMetricOfNow) {
  auto before = by(Metric::bleu);
  before.add_validation(1, scores_of(5, 3));
  before.add_validation(2, scores_of(4, 2));
  before.add_validation(3, scores_of(3, 1));
  auto after = by(Metric::loss, 1);
  after.set_history(before.history());
  EXPECT_EQ(before.best_step(), 1);
  EXPECT_EQ(after.best_step(), 3);
  EXPECT_FALSE(after.out_of_patience());
  EXPECT_FALSE(after.add_validation(4, scores_of(3.5, 9)));
  EXPECT_TRUE(after.out_of_patience());
}

}  // namespace
}  // namespace regard::early_stopping_test
