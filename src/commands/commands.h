// What the verbs of the command line do. Each runs and returns its exit code, or throws an error.
#pragma once

#include "base/error.h"
#include "cli/average_arguments.h"
#include "cli/config_arguments.h"
#include "cli/evaluate_arguments.h"
#include "cli/info_arguments.h"
#include "cli/report_arguments.h"
#include "cli/score_arguments.h"
#include "cli/train_arguments.h"
#include "cli/translate_arguments.h"

namespace regard {

ExitCode train(const TrainArguments& arguments);
ExitCode translate(const TranslateArguments& arguments);
ExitCode evaluate(const EvaluateArguments& arguments);
ExitCode score(const ScoreArguments& arguments);
ExitCode average(const AverageArguments& arguments);
ExitCode info(const InfoArguments& arguments);
ExitCode report(const ReportArguments& arguments);
ExitCode print_config(const ConfigArguments& arguments);

}  // namespace regard
