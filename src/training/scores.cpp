#include "training/scores.h"

#include <algorithm>
#include <cmath>

namespace regard {

double figure(Metric metric, const Scores& scores) {
  switch (metric) {
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

bool is_better(Metric metric, const Scores& scores, const Scores& than) {
  const auto now = figure(metric, scores);
  const auto before = figure(metric, than);
  return std::isfinite(now) &&
         (!std::isfinite(before) || now > before || (now == before && scores.loss < than.loss));
}

std::vector<std::int64_t> ranking(Metric metric, ScoredSteps validations) {
  std::erase_if(validations, [&](const auto& validation) {
    return !std::isfinite(figure(metric, validation.second));
  });
  std::ranges::stable_sort(validations, [&](const auto& a, const auto& b) {
    return is_better(metric, a.second, b.second);
  });
  std::vector<std::int64_t> steps;
  for (const auto& [step, scores] : validations) steps.push_back(step);
  return steps;
}

}  // namespace regard
