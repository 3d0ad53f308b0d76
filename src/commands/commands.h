// The commands of regard. Each function runs one command. It returns the exit code or throws an
// exception of base/error.h.
#pragma once

#include "base/error.h"
#include "cli/arguments.h"

namespace regard {

ExitCode train(const TrainArguments& arguments);
ExitCode prepare(const PrepareArguments& arguments);
ExitCode features(const FeaturesArguments& arguments);
ExitCode translate(const TranslateArguments& arguments);
ExitCode synthesize(const SynthesizeArguments& arguments);
ExitCode evaluate(const EvaluateArguments& arguments);
ExitCode score(const ScoreArguments& arguments);
ExitCode rerank(const RerankArguments& arguments);
ExitCode shortlist(const ShortlistArguments& arguments);
ExitCode average(const AverageArguments& arguments);
ExitCode quantize(const QuantizeArguments& arguments);
ExitCode serve(const ServeArguments& arguments);
ExitCode info(const InfoArguments& arguments);
ExitCode report(const ReportArguments& arguments);
ExitCode print_config(const ConfigArguments& arguments);

}  // namespace regard
