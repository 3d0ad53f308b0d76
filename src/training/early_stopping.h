// Which validation was the best so far, and whether it is long enough ago to stop.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "config/training_options.h"

namespace regard {

struct Scores {
  double loss = 0;  // −log P per target token, in nats
  double perplexity = 0;
  double bleu = 0;
  double chrf = 0;
};

class EarlyStopping {
 public:
  explicit EarlyStopping(const TrainingOptions& options) : options_(options) {}

  // Returns whether this validation is the best so far: the figure that early_stopping_metric names
  // is better, or the same at a lower loss. One that is not finite never is. One that closes a run
  // between two that are due may be the best, but says nothing of patience.
  bool validated(std::int64_t step, const Scores& scores, bool closing = false);
  // `patience` validations have gone by without a better one.
  bool out_of_patience() const;
  std::int64_t best_step() const { return best_step_; }  // 0: none yet

  // Each validation's step and figure, higher is better: losses with their sign changed.
  std::vector<std::pair<std::int64_t, double>> figures() const;

  using History = std::vector<std::pair<std::int64_t, Scores>>;
  const History& history() const { return history_; }
  // Judges these anew, by the metric of these options: it may have changed since. The last may be a
  // closing one.
  void set_history(const History& history, std::int64_t closing_step = 0);

 private:
  double figure(const Scores& scores) const;

  TrainingOptions options_;
  History history_;
  Scores best_;
  std::int64_t best_step_ = 0;
  std::int64_t validations_without_improvement_ = 0;
};

}  // namespace regard
