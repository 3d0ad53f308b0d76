#include "training/early_stopping.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regard {
namespace {

Scores scores_of(double loss, double bleu) {
  return {loss, std::exp(loss), bleu, bleu};
}

TEST(EarlyStopping, HigherIsBetterForBleuAndLowerForLoss) {
  TrainingOptions options;
  options.early_stopping_metric = Metric::bleu;
  EarlyStopping by_bleu(options);
  EXPECT_TRUE(by_bleu.validated(1, scores_of(3, 10)));
  EXPECT_FALSE(by_bleu.validated(2, scores_of(2, 9)));
  options.early_stopping_metric = Metric::loss;
  EarlyStopping by_loss(options);
  EXPECT_TRUE(by_loss.validated(1, scores_of(3, 10)));
  EXPECT_TRUE(by_loss.validated(2, scores_of(2, 9)));
  EXPECT_EQ(by_loss.state().best_step, 2);
}

TEST(EarlyStopping, PatienceCountsValidationsSinceTheBest) {
  TrainingOptions options;
  options.patience = 2;
  EarlyStopping stopping(options);
  stopping.validated(1, scores_of(1, 10));
  stopping.validated(2, scores_of(1, 9));
  EXPECT_FALSE(stopping.out_of_patience());
  stopping.validated(3, scores_of(1, 11));
  stopping.validated(4, scores_of(1, 11));  // no better
  EXPECT_FALSE(stopping.out_of_patience());
  stopping.validated(5, scores_of(1, 10));
  EXPECT_TRUE(stopping.out_of_patience());
}

TEST(EarlyStopping, AFigureThatIsNotFiniteIsNeverTheBest) {
  TrainingOptions options;
  options.early_stopping_metric = Metric::loss;
  EarlyStopping stopping(options);
  EXPECT_FALSE(stopping.validated(1, scores_of(NAN, 0)));
  EXPECT_EQ(stopping.state().best_step, 0);
  EXPECT_TRUE(stopping.validated(2, scores_of(5, 0)));
}

}  // namespace
}  // namespace regard
