// Charts of a training run by step: losses, BLEU and chrF, learning rate, gradient norm, speed.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "report/line_chart.h"
#include "report/run_logs.h"

namespace regard {

// The records of a run.
struct RunLogs {
  std::string name;
  const std::vector<Json>& train_log;
  const ValidationTable& validations;
};

// Returns the charts that have data. Reduces a training curve of more than a thousand points to the
// means of up to a thousand groups of consecutive points.
std::vector<LineChart> learning_curves(const RunLogs& run);

// Returns charts of losses, scores and speed with a curve for each run, reduced in the same way.
std::vector<LineChart> compared_curves(const std::vector<RunLogs>& runs);

}  // namespace regard
