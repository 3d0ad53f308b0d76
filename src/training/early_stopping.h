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

  // Returns whether this validation is the best so far; a figure that is not finite never is.
  bool validated(std::int64_t step, const Scores& scores);
  // `patience` validations have gone by without a better one.
  bool out_of_patience() const;

  // Higher is better: losses and perplexities with their sign changed.
  double score(const Scores& scores) const;

  struct State {
    std::int64_t best_step = 0;  // 0: none yet
    std::int64_t validations_without_improvement = 0;
    std::vector<std::pair<std::int64_t, double>> history;  // step and score of each validation
  };
  const State& state() const { return state_; }
  void set_state(State state) { state_ = std::move(state); }

 private:
  TrainingOptions options_;
  State state_;
};

}  // namespace regard
