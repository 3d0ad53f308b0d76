// regard info: what a model is, how it was trained, what it scored.
#include "commands/commands.h"
#include "commands/model_report.h"
#include "commands/output_file.h"
#include "text/utf8.h"

namespace regard {

ExitCode info(const InfoArguments& arguments) {
  const auto report = report_on(arguments.model);
  OutputFile output("");
  output.write(arguments.json ? to_json(report).dump(2) + "\n" : without_controls(to_text(report)));
  output.commit();
  return ExitCode::ok;
}

}  // namespace regard
