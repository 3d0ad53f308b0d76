#include "training/early_stopping.h"

#include <cmath>

namespace regard {

bool EarlyStopping::validated(std::int64_t step, const Scores& scores, bool closing) {
  history_.emplace_back(step, scores);
  const auto metric = options_.early_stopping_metric;
  const bool best =
      best_step_ == 0 ? std::isfinite(figure(metric, scores)) : is_better(metric, scores, best_);
  if (best) {
    best_ = scores;
    best_step_ = step;
  }
  closing_step_ = closing ? step : 0;
  if (closing) return best;
  validations_without_improvement_ = best ? 0 : validations_without_improvement_ + 1;
  return best;
}

bool EarlyStopping::out_of_patience() const {
  return options_.patience > 0 && validations_without_improvement_ >= options_.patience;
}

ScoredSteps EarlyStopping::due_history() const {
  auto due = history_;
  if (closing_step_ > 0) due.pop_back();
  return due;
}

void EarlyStopping::set_history(const ScoredSteps& history, std::int64_t closing_step) {
  *this = EarlyStopping(options_);
  for (const auto& [step, scores] : history) validated(step, scores, step == closing_step);
}

}  // namespace regard
