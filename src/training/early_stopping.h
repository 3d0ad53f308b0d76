// Early stopping: finds the best validation, and stops the training after `patience` validations
// without improvement.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "config/training_options.h"

namespace regard {

// The scores of a validation.
struct Scores {
  double loss = 0;  // −log P per target token, in nats
  double perplexity = 0;
  double bleu = 0;  // 0 to 100, as the next one; both are NaN if the model does not translate
  double chrf = 0;
};

// Returns the score by this metric. Higher is better: loss and perplexity are negated.
double score_of(Metric metric, const Scores& scores);

// Returns true if `scores` are higher than `best` by this metric, or equal with a lower loss. A
// score that is not finite is never better; a finite score is better than one that is not.
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
