// Early stopping: finds the best validation, and ends the training when `patience` validations have
// not improved on it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "config/training_options.h"

namespace regard {

// The scores of a validation.
struct Scores {
  double loss = 0;  // −log P per target token, in nats
  double perplexity = 0;
  double bleu = 0;
  double chrf = 0;
};

// Returns the score by this metric; higher is better, so losses have their sign changed.
double score_of(Metric metric, const Scores& scores);

// Returns true if `scores` are higher than `than` by this metric, or equal with a lower loss. A
// score that is not finite is never better.
bool is_better(Metric metric, const Scores& scores, const Scores& than);

// Validations in ascending order of their steps.
using ScoredSteps = std::vector<std::pair<std::int64_t, Scores>>;
// Returns the steps of the validations with a finite score, best first; of equal ones the earlier
// first.
std::vector<std::int64_t> ranking(Metric metric, ScoredSteps validations);

class EarlyStopping {
 public:
  explicit EarlyStopping(const TrainingOptions& options) : options_(options) {}

  // Records a validation. Returns true if it is the best so far by early_stopping_metric.
  bool validated(std::int64_t step, const Scores& scores);
  // Returns true if the last `patience` validations were not better than the best before them.
  bool out_of_patience() const;
  // Returns the step of the best validation, 0 if there is none yet.
  std::int64_t best_step() const { return best_step_; }

  const ScoredSteps& history() const { return history_; }
  // Replaces the history and judges it anew by the current metric, which may have changed.
  void set_history(const ScoredSteps& history);

 private:
  TrainingOptions options_;
  ScoredSteps history_;
  Scores best_;
  std::int64_t best_step_ = 0;
  std::int64_t validations_without_improvement_ = 0;
};

}  // namespace regard
