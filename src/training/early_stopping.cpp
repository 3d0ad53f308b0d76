#include "training/early_stopping.h"

#include <algorithm>
#include <cmath>

namespace regard {

double score_of(Metric metric, const Scores& scores) {
  const auto score = score_at(scores, metric);
  const bool is_higher_better =
      metric == Metric::bleu || metric == Metric::chrf || metric == Metric::exact;
  return is_higher_better ? score : -score;
}

bool is_better(Metric metric, const Scores& scores, const Scores& best) {
  const auto now = score_of(metric, scores);
  const auto before = score_of(metric, best);
  const auto loss_of = [](const Scores& of) {
    return std::isnan(of.loss) ? std::numeric_limits<double>::infinity() : of.loss;
  };
  const bool is_tie_won = now == before && loss_of(scores) < loss_of(best);
  return std::isfinite(now) && (!std::isfinite(before) || now > before || is_tie_won);
}

std::vector<std::int64_t> ranking(Metric metric, ScoredSteps validations) {
  std::erase_if(validations, [&](const auto& validation) {
    return !std::isfinite(score_of(metric, validation.second));
  });
  std::ranges::stable_sort(validations, [&](const auto& a, const auto& b) {
    return is_better(metric, a.second, b.second);
  });
  std::vector<std::int64_t> steps;
  for (const auto& [step, scores] : validations) steps.push_back(step);
  return steps;
}

bool EarlyStopping::add_validation(std::int64_t step, const Scores& scores) {
  history_.emplace_back(step, scores);
  const auto metric = options_.early_stopping_metric;
  const bool best =
      best_step_ ? is_better(metric, scores, best_) : std::isfinite(score_of(metric, scores));
  if (best) {
    best_ = scores;
    best_step_ = step;
  }
  validations_without_improvement_ = best ? 0 : validations_without_improvement_ + 1;
  return best;
}

bool EarlyStopping::out_of_patience() const {
  return options_.patience > 0 && validations_without_improvement_ >= options_.patience;
}

void EarlyStopping::set_history(const ScoredSteps& history) {
  *this = EarlyStopping(options_);
  for (const auto& [step, scores] : history) add_validation(step, scores);
}

}  // namespace regard
