// Charts of a training run by step: losses, BLEU and chrF, learning rate, gradient norm, speed.
#pragma once

#include <vector>

#include "base/json.h"
#include "report/line_chart.h"
#include "report/run_logs.h"

namespace regard {

// Returns the charts that have data. Reduces a training curve of more than a thousand points to the
// means of up to a thousand groups of consecutive points.
std::vector<LineChart> learning_curves(const std::vector<Json>& train_log,
                                       const ValidationTable& validations);

}  // namespace regard
