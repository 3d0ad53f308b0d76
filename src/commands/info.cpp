// regard info: prints a model's architecture, training and scores, or compares several runs.
#include "base/strings.h"
#include "commands/commands.h"
#include "commands/model_report.h"
#include "commands/output_file.h"
#include "commands/report/run_comparison.h"

namespace regard {

namespace {

template <typename Report>
std::string formatted(const Report& report, bool json) {
  return json ? to_text(to_json(report), 2) + "\n" : escape_controls(to_text(report));
}

}  // namespace

ExitCode info(const InfoArguments& arguments) {
  write_output("", arguments.models.size() == 1
                       ? formatted(read_model_report(arguments.models[0]), arguments.json)
                       : formatted(compare_runs(read_runs(arguments.models)), arguments.json));
  return ExitCode::ok;
}

}  // namespace regard
