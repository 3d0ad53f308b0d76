// regard info: what a model is, how it was trained, what it scored.
#include "base/terminal_text.h"
#include "commands/commands.h"
#include "commands/model_report.h"
#include "commands/output_file.h"

namespace regard {

ExitCode info(const InfoArguments& arguments) {
  const auto report = report_on(arguments.model);
  OutputFile output("");
  output.write(arguments.json ? to_text(to_json(report), 2) + "\n" : for_terminal(to_text(report)));
  output.commit();
  return ExitCode::ok;
}

}  // namespace regard
