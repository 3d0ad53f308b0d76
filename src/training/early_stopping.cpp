#include "training/early_stopping.h"

#include <algorithm>
#include <cmath>

namespace regard {

double EarlyStopping::score(const Scores& scores) const {
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

bool EarlyStopping::validated(std::int64_t step, const Scores& scores) {
  const auto now = score(scores);
  const bool best = std::isfinite(now) &&
                    std::none_of(state_.history.begin(), state_.history.end(),
                                 [now](const auto& before) { return before.second >= now; });
  state_.history.emplace_back(step, now);
  if (best) state_.best_step = step;
  state_.validations_without_improvement = best ? 0 : state_.validations_without_improvement + 1;
  return best;
}

bool EarlyStopping::out_of_patience() const {
  return options_.patience > 0 && state_.validations_without_improvement >= options_.patience;
}

}  // namespace regard
