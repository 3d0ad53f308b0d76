#include "training/early_stopping.h"

#include <cmath>

namespace regard {

double EarlyStopping::figure(const Scores& scores) const {
  switch (options_.early_stopping_metric) {
    case Metric::loss:
      return -scores.loss;
    case Metric::perplexity:
      return -scores.perplexity;
    case Metric::bleu:
      return scores.bleu;
    case Metric::chrf:
      return scores.chrf;
  }
  return 0;
}

bool EarlyStopping::validated(std::int64_t step, const Scores& scores, bool closing) {
  history_.emplace_back(step, scores);
  const auto now = figure(scores);
  const auto before = figure(best_);
  const bool best = std::isfinite(now) && (best_step_ == 0 || now > before ||
                                           (now == before && scores.loss < best_.loss));
  if (best) {
    best_ = scores;
    best_step_ = step;
  }
  if (closing) return best;
  validations_without_improvement_ = best ? 0 : validations_without_improvement_ + 1;
  return best;
}

bool EarlyStopping::out_of_patience() const {
  return options_.patience > 0 && validations_without_improvement_ >= options_.patience;
}

std::vector<std::pair<std::int64_t, double>> EarlyStopping::figures() const {
  std::vector<std::pair<std::int64_t, double>> figures;
  for (const auto& [step, scores] : history_) figures.emplace_back(step, figure(scores));
  return figures;
}

void EarlyStopping::set_history(const History& history, std::int64_t closing_step) {
  *this = EarlyStopping(options_);
  for (const auto& [step, scores] : history) validated(step, scores, step == closing_step);
}

}  // namespace regard
