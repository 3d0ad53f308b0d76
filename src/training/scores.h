// The figures of a validation, and which of two is better.
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

// By that metric, higher is better: losses with their sign changed.
double figure(Metric metric, const Scores& scores);

// Whether the figure is higher, or the same at a lower loss. One that is not finite never is.
bool is_better(Metric metric, const Scores& scores, const Scores& than);

// Of validations in the order of their steps, those with a finite figure, best first and of equal
// ones the earlier first.
using ScoredSteps = std::vector<std::pair<std::int64_t, Scores>>;
std::vector<std::int64_t> ranking(Metric metric, ScoredSteps validations);

}  // namespace regard
