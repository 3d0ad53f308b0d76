// How a training went, as charts: losses, BLEU and chrF, learning rate, gradient norm, speed, by
// step, from the two records of its run.
#pragma once

#include <vector>

#include "base/json.h"
#include "report/journal.h"
#include "report/line_chart.h"

namespace regard {

// What a record lacks has no chart. A long curve is drawn as the means of up to a thousand groups
// of its points.
std::vector<LineChart> learning_curves(const std::vector<Json>& journal,
                                       const Validations& validations);

}  // namespace regard
