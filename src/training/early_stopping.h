// Early stopping: finds the best validation, and stops the training after `patience` validations
// without improvement.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "config/training_options.h"

namespace regard {

// The scores of a validation. Those of translations are in per cent, and NaN if the model does not
// translate.
struct Scores {
  double loss = 0;  // −log P per target token, in nats
  double perplexity = 0;
  double bleu = 0;
  double chrf = 0;
  // NaN unless it is early_stopping_metric.
  double wer = std::numeric_limits<double>::quiet_NaN();
  double cer = std::numeric_limits<double>::quiet_NaN();
  double exact = std::numeric_limits<double>::quiet_NaN();
};

// The member of each Metric, in the order of enum_names(Metric).
constexpr std::array score_members = {&Scores::loss, &Scores::perplexity, &Scores::bleu,
                                      &Scores::chrf, &Scores::wer,        &Scores::cer,
                                      &Scores::exact};

template <typename AnyScores>
constexpr auto& score_at(AnyScores& scores, Metric metric) {
  return scores.*score_members.at(static_cast<std::size_t>(metric));
}

// True for the metrics that are computed only if they are early_stopping_metric.
constexpr bool is_optional(Metric metric) {
  return metric == Metric::wer || metric == Metric::cer || metric == Metric::exact;
}

// Returns the score by this metric. Higher is better: losses and error rates are negated.
double score_of(Metric metric, const Scores& scores);

// Returns true if `scores` are higher than `best` by this metric, or equal with a lower loss. A
// score that is not finite is never better; a finite score is better than one that is not. A loss
// of NaN counts as infinite.
bool is_better(Metric metric, const Scores& scores, const Scores& best);

// Validations in ascending order of their steps.
using ScoredSteps = std::vector<std::pair<std::int64_t, Scores>>;
// Returns the steps of the validations with a finite score, best first. The earlier of two equal
// validations is first.
std::vector<std::int64_t> ranking(Metric metric, ScoredSteps validations);

class EarlyStopping {
 public:
  explicit EarlyStopping(const TrainingOptions& options) : options_(options) {}

  // Records a validation. Returns true if it is the best so far by early_stopping_metric.
  bool add_validation(std::int64_t step, const Scores& scores);
  // Returns true if none of the last `patience` validations was better than the best before them.
  bool out_of_patience() const;
  // Returns the step of the best validation, if there is one. It is 0 if the initial model of a run
  // is the best one.
  std::optional<std::int64_t> best_step() const { return best_step_; }

  const ScoredSteps& history() const { return history_; }
  // Replaces the history. Finds the best validation again, because the metric may have changed.
  void set_history(const ScoredSteps& history);

 private:
  TrainingOptions options_;
  ScoredSteps history_;
  Scores best_;
  std::optional<std::int64_t> best_step_;
  std::int64_t validations_without_improvement_ = 0;
};

}  // namespace regard
