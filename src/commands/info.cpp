// regard info: prints a model's architecture, training and scores.
#include "base/strings.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/model_report.h"
#include "commands/output_file.h"

namespace regard {

ExitCode info(const InfoArguments& arguments) {
  const auto report = read_model_report(arguments.model);
  OutputFile output("");
  output.write(arguments.json ? to_text(to_json(report), 2) + "\n"
                              : in_locale(escape_controls(to_text(report))));
  output.commit();
  return ExitCode::ok;
}

}  // namespace regard
